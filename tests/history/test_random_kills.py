"""kill -9 at random times of transactions: who opens the root next finds each one whole."""

import os
import subprocess
import sys

import pytest

from tests.conftest import PATIENCE

KILLS = int(os.environ.get("FSAGENT_KILLS", "100"))
SEED = 20
# Every transaction brings all files from one generation to the next. A process that makes one
# after the other is killed; a further one opens the root and looks. Both are forks, for speed.
PROGRAM = """
import os, random, shutil, signal, sys, time, traceback
from contextlib import closing
from pathlib import Path
from fsagent_tools import Workspace
top, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
in_between = finished = 0

def build(root):
    for name in ("a", "b", "d/0", "deep/in/c"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("0\\n")

def step(workspace, now):
    old, new = str(now), str(now + 1)
    with workspace.transaction():
        workspace.write_text("a", new + "\\n")
        workspace.edit_text("b", old, new)
        workspace.move("d/" + old, "d/" + new)
        workspace.write_text("d/" + new, new + "\\n")
        if now % 2:
            workspace.write_text("deep/in/c", new + "\\n")
        else:
            workspace.remove("deep", recursive=True)

def generation(root):
    "Which one all files are of."
    found = {p.relative_to(root).as_posix(): p.read_text().strip()
             for p in root.rglob("*")
             if p.is_file() and ".ai" not in p.parts and not p.name.startswith(".fsagent")}
    now = found.get("a")
    whole = {"a": now, "b": now, f"d/{now}": now}
    if int(now) % 2 == 0:
        whole["deep/in/c"] = now
    if found != whole:
        raise AssertionError(f"{found}, not {whole}")
    return int(now)

def forked(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    return child

def endless(root, began):
    with closing(Workspace(root)) as workspace:
        workspace.read_text("a")
        now, before = generation(root), time.monotonic()
        step(workspace, now)
        os.write(began, str(time.monotonic() - before).encode())
        while True:
            now += 1
            step(workspace, now)

def look(root):
    with closing(Workspace(root)) as workspace:
        workspace.read_text("a")
        assert not [*Path(workspace.history.archive.folder).glob("open/*")]
        generation(root)

build(top / "warm")  # what is imported late, all have from here on
with closing(Workspace(top / "warm")) as workspace:
    step(workspace, 0)
    workspace.undo()
for number in range(kills):
    if number % 50 == 0:
        root = top / str(number)
        build(root)
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)
    heard, began = os.pipe()
    child = forked(lambda: endless(root, began))
    os.close(began)
    time.sleep(chance.uniform(0, 2 * float(os.read(heard, 30))))  # of the length of one
    os.close(heard)
    os.kill(child, signal.SIGKILL)
    _, how = os.waitpid(child, 0)
    assert os.WTERMSIG(how) == signal.SIGKILL, how
    partial = bool([*Path(os.environ["XDG_STATE_HOME"]).rglob("open/*")])
    in_between += partial
    finished += not partial
    assert os.waitstatus_to_exitcode(os.waitpid(forked(lambda: look(root)), 0)[1]) == 0, number
print(in_between, finished)
"""


@pytest.mark.slow
def test_a_killed_transaction_is_finished_or_taken_back(tmp_path):
    """`FSAGENT_KILLS` says how many times, default 100."""
    command = [sys.executable, "-c", PROGRAM, tmp_path, str(KILLS), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=PATIENCE + 2 * KILLS)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    in_between, finished = map(int, done.stdout.split())
    sys.stdout.write(f"{in_between} killed inside a transaction, {finished} between two\n")
    assert in_between > KILLS / 4
