"""Several processes on one file, killed processes, swapped links: no acknowledged edit is lost."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

from tests.conftest import PATIENCE, Traced, needs_strace

pytestmark = pytest.mark.full

WRITER = """
import re, sys
from fsagent_tools import Workspace, toolset
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
tools = toolset("workspace").bind(Workspace(root, staleness="lines"))
text = tools["read"].call({"file_path": "a.txt"}).text
mine = re.search(r"\\[LID:(\\w{6})\\] " + name + r":0$", text, re.M)[1]
done = 0
while done < count:
    change = {"line_id": mine, "new_content": f"{name}:{done + 1}"}
    if done % 3 == 0:  # lines come above the others' lines, so that those move
        change = {"start_line_id": mine, "end_line_id": mine,
                  "new_content": f"{name} was at {done}\\n{name}:{done + 1}"}
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    if not out.ok:
        sys.exit(out.text)
    done += 1
    mine = re.search(r"\\[LID:(\\w{6})\\] " + name + f":{done}$", out.text, re.M)[1]
print(done)
"""


def write_at_once(root, count):
    (root / "a.txt").write_text("top\nA:0\nmiddle\nB:0\nbottom\n")
    command = [sys.executable, "-c", WRITER, root]
    writers = [
        subprocess.Popen([*command, name, str(count)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for name in "AB"
    ]  # fmt: skip
    for writer in writers:
        out, error = writer.communicate()
        assert (out.strip(), error) == (str(count), ""), error
    expected = ["top"]
    for name, after in (("A", "middle"), ("B", "bottom")):
        expected += [f"{name} was at {n}" for n in range(0, count, 3)] + [f"{name}:{count}", after]
    assert (root / "a.txt").read_text().splitlines() == expected


def test_every_acknowledged_edit_of_two_processes_is_in_the_file(root):
    write_at_once(root, 60)


@pytest.mark.slow
def test_every_one_of_two_thousand_edits_is_in_the_file(root):
    write_at_once(root, 1000)


def test_threads_of_one_session_lose_no_edit(root, sessions):
    (root / "a.txt").write_text("".join(f"{n}:0\n" for n in range(6)))
    session = sessions()
    problems = []

    def work(n, line_id):
        for count in range(1, 31):
            out = session.edit({"line_id": line_id, "new_content": f"{n}:{count}"})
            found = re.search(rf"\[LID:(\w{{6}})\] {n}:{count}$", out.text, re.M)
            if not found:
                problems.append(out.text)
                return
            line_id = found[1]

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(session.ids())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert (root / "a.txt").read_text() == "".join(f"{n}:30\n" for n in range(6))


EDITOR = """
import re, sys
from fsagent_tools import Workspace, toolset
tools = toolset("workspace").bind(Workspace(sys.argv[1]))
out = tools["read"].call({"file_path": "a.txt"})
line_id = re.search(r"\\[LID:(\\w{6})\\] old$", out.text, re.M)[1]
print("READY", flush=True)
out = tools["edit_lines"].call(
    {"file_path": "a.txt", "changes": [{"line_id": line_id, "new_content": "new\\nnewer"}]})
print(out.code)
"""
OLD = "one\n" * 500 + "old\n" + "two\n" * 500
NEW = OLD.replace("old\n", "new\nnewer\n")
SYSCALLS = (
    "openat,openat2,write,rename,renameat,renameat2,unlinkat,close,fchmod,fchown,flock,"
    "mkdirat,pwrite64,ftruncate,fsetxattr,newfstatat,lseek"
)
EDITING = Traced(EDITOR, SYSCALLS)


def kill_at(root, sessions, name, when):
    for entry in list(root.iterdir()):
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    (root / "a.txt").write_text(OLD)
    _, said = EDITING.injected([root], (name, when), "signal=SIGKILL")
    content = (root / "a.txt").read_text()
    assert content in (OLD, NEW), f"torn at {name} {when}"
    assert "OK" not in said or content == NEW
    session = sessions()
    out = session.read()
    assert out.ok, out.text
    last = session.ids(offset=400, limit=1)[0]
    from fsagent_tools.files.locks import _swept

    _swept.clear()  # the next start is another process
    assert session.edit({"line_id": last, "new_content": "after"}).ok
    assert (root / "a.txt").read_text().count("after") == 1
    (root / "b.txt").write_text("b\n")
    session.read("b.txt")
    litter = [name for _, _, names in os.walk(root) for name in names if "fsagent-" in name]
    assert not litter, f"{litter} left by a kill at {name} {when}"
    session.close()


def kill_points(root):
    """Every (system call, how often it had been called) from the beginning of the edit on."""
    (root / "a.txt").write_text(OLD)
    return EDITING.steps([root], root.parent / "strace.log")


@needs_strace
def test_a_process_killed_while_it_edits_leaves_the_old_or_the_new_text(root, sessions):
    points = kill_points(root)
    writes = [point for point in points if point[0] in ("rename", "renameat", "renameat2")]
    for name, when in [*writes[:2], *points[5 :: max(1, len(points) // 4)]]:
        kill_at(root, sessions, name, when)


@needs_strace
@pytest.mark.slow
def test_a_process_killed_at_any_call_leaves_the_old_or_the_new_text(root, sessions):
    for name, when in kill_points(root):
        kill_at(root, sessions, name, when)


SWAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.chdir(sys.argv[1])
print("go", flush=True)
while True:
    libc.renameat2(-100, b"d", -100, b"link", 2)
"""


def race(root, sessions, seconds):
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("SECRET\n")
    (root / "d").mkdir()
    (root / "d/f").write_text("public\n")
    (root / "link").symlink_to(outside)
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, root], stdout=subprocess.PIPE)
    swapper.stdout.readline()
    session, end, done = sessions(), time.monotonic() + seconds, 0
    try:
        while (now := time.monotonic()) < end or (not done and now < end + PATIENCE):
            out = session.read("d/f")
            assert "SECRET" not in out.text
            ids = re.findall(r"LID:(\w{6})", out.text)
            if ids:
                out = session.edit({"line_id": ids[0], "new_content": f"mine {done}"}, path="d/f")
                assert "SECRET" not in out.text
            out = session.write(f"mine {done}\n", "d/f")
            assert "SECRET" not in out.text
            done += out.ok
    finally:
        swapper.kill()
        swapper.communicate()
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"f": "SECRET\n"}
    assert done


def test_links_that_are_swapped_under_a_call_lead_nowhere(root, sessions):
    race(root, sessions, 1)


@pytest.mark.slow
def test_links_that_are_swapped_for_long_lead_nowhere(root, sessions):
    race(root, sessions, 10)
