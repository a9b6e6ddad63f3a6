"""The judge sees what is there: whatever is closed to it, swapped under it or written meanwhile."""

import os
import shutil
import subprocess
import tempfile
import threading
from functools import partial
from pathlib import Path

import pytest

from fsagent_tools import Policy
from fsagent_tools.process import judge
from fsagent_tools.process.closed import Survey
from fsagent_tools.process.judge import Judge
from fsagent_tools.process.putback import look_at

_NOBODY = 65534


@pytest.fixture
def theirs():
    """A directory of an ordinary user, who this process is meanwhile; modes do not bind root."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    folder.chmod(0o755)
    if not user:
        os.chown(folder, _NOBODY, -1)
        os.seteuid(_NOBODY)
    yield folder
    os.seteuid(user)
    subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "command",
    [
        "cp /bin/true .git/hooks/pre-commit; chmod 111 .git/hooks/pre-commit",
        "touch .git/hooks/pre-commit; chmod 311 .git/hooks",
        "touch .git/hooks/pre-commit; chmod 666 .git/hooks",
        "git init -q s; git -C s config core.fsmonitor x; chmod 311 s/.git s",
        "mkdir -p d/.cursor; touch d/.cursor/mcp.json; chmod 311 d/.cursor d",
    ],
)
def test_nothing_is_hidden_from_it_by_a_mode(theirs, command):
    run = partial(subprocess.run, cwd=theirs, check=True, user=os.geteuid())
    run(["git", "init", "-q"])
    (theirs / ".git/hooks").mkdir(exist_ok=True)
    survey = Survey(str(theirs), Policy())
    after = Judge(survey, None, None).before(survey.look())
    run(["bash", "-c", command])
    _, put_back = after()
    assert put_back
    assert not (theirs / ".git/hooks/pre-commit").exists()
    assert not (theirs / "d/.cursor/mcp.json").exists()
    if (theirs / "s").exists():
        assert "fsmonitor" not in (theirs / "s/.git/config").read_text()


def test_what_was_closed_before_stays_closed(theirs):
    (theirs / "secret").mkdir(mode=0o000)
    survey = Survey(str(theirs), Policy(), since=os.stat(theirs / "secret").st_ctime_ns + 1)
    survey.look()
    assert (theirs / "secret").stat().st_mode & 0o777 == 0


def test_what_a_job_goes_on_writing_is_never_taken_for_the_users(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".git/hooks").mkdir(exist_ok=True)
    hook, survey = tmp_path / ".git/hooks/pre-commit", Survey(str(tmp_path), Policy())
    of_judge, real = Judge(survey, None, None), judge.put_in_place

    def while_a_job_writes(root, path, wanted):
        real(root, path, wanted)
        hook.write_text("evil")

    job, command = of_judge.before(survey.look()), of_judge.before(survey.look())
    hook.write_text("evil")
    monkeypatch.setattr(judge, "put_in_place", while_a_job_writes)
    assert command()[1]
    monkeypatch.undo()
    assert job()[1]
    assert not hook.exists()


def test_a_file_is_what_it_says_under_whatever_name_it_comes_up(tmp_path):
    """Directories that change places keep the times of what is in them."""
    said = dict[int, bytes]()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hook").write_bytes(name.encode() * 9)
        said[(tmp_path / name / "hook").stat().st_ino] = name.encode() * 9
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            os.rename(tmp_path / "a", tmp_path / "c")
            os.rename(tmp_path / "b", tmp_path / "a")
            os.rename(tmp_path / "c", tmp_path / "b")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = [look_at(str(tmp_path / "a/hook"), None, 100) for _ in range(20_000)]
    finally:
        stop.set()
        swapping.join()
    assert all(one.content == said[one.stamp[0]] for one in seen if one)


def test_a_file_that_has_just_changed_is_read_again(tmp_path):
    """Two changes may bear the same time."""
    file = tmp_path / "hook"
    file.write_text("one")
    known = look_at(str(file), None, 100)
    assert look_at(str(file), known._replace(content=b"two"), 100).content == b"one"
