"""A process that is forked from the host shares no command, no job and no server with it."""

import subprocess
import sys
import textwrap

HEAD = """
import os, sys, time
from pathlib import Path
from fsagent_tools import Workspace, toolset

root = Path(sys.argv[1])
workspace = Workspace(root)
tools = toolset("workspace").bind(workspace)

def call(name, **arguments):
    outcome = tools[name].call(arguments)
    assert outcome.ok, outcome.text
    return outcome.text

def forked(*works):
    pids = []
    for work in works:
        pid = os.fork()
        if not pid:
            work()
            sys.exit()  # and not `os._exit`: what ends with a process, ends here
        pids.append(pid)
    for pid in pids:
        assert os.waitpid(pid, 0)[1] == 0
"""


def run(script, root):
    code = HEAD + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(root)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_process_has_its_own_commands(tmp_path):
    run(
        """
        call("bash", command="true")
        def work():
            for n in range(10):
                said = f"{os.getpid()} {n}"
                assert call("bash", command=f"echo {said}; sleep 0.01") == said
        forked(work, work, work)
        assert call("bash", command="echo ours") == "ours"
        """,
        tmp_path,
    )


def test_jobs_and_the_temporary_directory_stay_with_the_process_that_has_them(tmp_path):
    run(
        """
        directory = call("bash", command="echo $TMPDIR")
        call("bash", command="read line; echo $line > said", background=True)
        def work():
            assert "No command" in call("jobs")
            assert call("bash", command="echo $TMPDIR") != directory
            call("bash", command="sleep 100", background=True)
            workspace.close()
        forked(work, work)
        assert os.path.isdir(directory)
        assert "running" in call("jobs")
        call("jobs", job="1", action="write", input="hello\\n")
        assert call("jobs", job="1", action="wait")
        assert (root / "said").read_text() == "hello\\n"
        """,
        tmp_path,
    )


def test_what_one_process_changed_the_other_does_not_take_back(tmp_path):
    (tmp_path / "a").write_text("0")
    run(
        """
        call("write", file_path="b", content="0")
        def work():
            call("bash", command="echo more >> a")
            call("write", file_path="c", content="1")
            call("write", file_path="d", content="1")
            assert workspace.undo().paths == ("d",)
        forked(work)
        assert workspace.undo().paths == ("b",)
        forked(workspace.close)
        """,
        tmp_path,
    )
    assert (tmp_path / "a").read_text() == "0more\n"
    assert {path.name for path in tmp_path.iterdir()} - {".ai"} == {"a", "c"}


def test_documents_are_read_by_a_child_of_the_process_that_asks(tmp_path):
    cells = '{"cells": [{"cell_type": "code", "source": "%s", "metadata": {}, "outputs": []}]}'
    for name in "abc":
        (tmp_path / f"{name}.ipynb").write_text(cells % f"the cell of {name}")
    run(
        """
        def work(name):
            assert f"the cell of {name}" in call("read", file_path=f"{name}.ipynb")
        work("a")
        forked(lambda: work("b"), lambda: work("c"))
        (root / "a.ipynb").write_text((root / "b.ipynb").read_text())
        assert "the cell of b" in call("read", file_path="a.ipynb")
        """,
        tmp_path,
    )


def test_what_one_owner_cannot_drop_the_others_drop(tmp_path):
    run(
        """
        from fsagent_tools.runtime import forked as forks
        class Broken:
            def disown(self):
                raise OSError
        owners = [Broken() for _ in range(5)]
        for owner in owners[:3]:
            forks.owned(owner)
        call("bash", command="sleep 100", background=True)
        for owner in owners[3:]:
            forks.owned(owner)
        def work():
            assert "No command" in call("jobs")
        forked(work)
        """,
        tmp_path,
    )
