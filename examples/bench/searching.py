"""grep, glob and ls over many files, against bare ripgrep and deepagents."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from corpora import tree
from peers import DeepAgents
from reading import tools
from timing import Row, Side, compare

from fsagent_tools.policy.programs import Programs
from fsagent_tools.search.ripgrep import find_ripgrep

ENTRIES = 1_700
ABSENT = "glob without a match: the whole tree"


def rg(folder: Path, *arguments: str) -> Side:
    command = [find_ripgrep(Programs()) or "rg", "--no-config", *arguments]
    shown = "rg " + " ".join(arguments)
    return Side(f"`{shown}`", lambda: subprocess.run(command, cwd=folder, capture_output=True))


def searches(folder: Path, files: int) -> Iterator[Row]:
    tree(folder, files)
    given = tools(folder)
    deep = DeepAgents(folder)

    def call(name: str, **arguments: object) -> Side:
        def run() -> None:
            assert given[name].call(arguments).ok

        return Side(name, run)

    rare, common = call("grep", pattern="needle"), call("grep", pattern="self")
    yield from compare(
        f"grep, rare word, {files:,} files", 1.1, rare, rg(folder, "-n", "needle", "."), rounds=9
    )
    yield from compare(
        "grep, common word, first 100", 0.2, common, rg(folder, "-n", "self", "."), rounds=5
    )
    python = call("glob", pattern="**/*.py")
    yield from compare(
        "glob `**/*.py`, first 100", 1.3, python, rg(folder, "--files", "-g", "**/*.py"), rounds=9
    )
    listed = Side("deepagents glob", lambda: deep.backend.glob("**/*.py", "/"))
    yield from compare("the same", 1 / 20, python, listed, rounds=3)
    absent = call("glob", pattern="**/*.absent")
    every = rg(folder, "--files", "-g", "**/*.absent")
    yield from compare(ABSENT, 1.6, absent, every, rounds=9)


def listings(folder: Path) -> Iterator[Row]:
    for number in range(ENTRIES):
        (folder / f"file{number}.txt").write_text("")
    given, deep = tools(folder), DeepAgents(folder)
    ours = Side("ls", lambda: given["ls"].call({}))
    theirs = Side("deepagents ls", lambda: deep.backend.ls("/"))
    yield from compare(f"ls of {ENTRIES:,} entries", 0.2, ours, theirs)
