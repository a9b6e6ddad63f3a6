"""Tasks: a repository with one small bug in it, what an agent is told, and how it is judged."""

import ast
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmark.agent.mutations import MUTATIONS
from benchmark.agent.source import Files
from benchmark.mine import git

LONGEST, MOST_FILES = 100_000, 400  # characters of a file; files that an agent is given
TOLD = "{path} has one small bug, around {where}: {told}. Repair it and change nothing else."
TESTS = "The tests fail: `{tests}`. Find the bug in the code, not in the tests, and repair it."


class Edit(NamedTuple):
    """A file as it is, and as it is to be."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class Task:
    """broken: the file with the bug, meant: without. line: which, counted from 1.

    tests: a shell command that succeeds once the bug is repaired; "" where the bytes decide. The
    other files of the repository come with `lay` and `solved`: many tasks share them.
    """

    id: str
    kind: str
    path: str
    prompt: str
    broken: str
    meant: str
    line: int
    tests: str = ""

    def lay(self, folder: Path, files: Files) -> None:
        """Write the repository with the bug; a path that leads out of the folder is refused."""
        laid(folder, {**files, self.path: self.broken})

    def edits(self, files: Files) -> list[Edit]:
        """What repairs it."""
        return [Edit(self.path, self.broken, self.meant)]

    def solved(self, folder: Path, files: Files) -> bool:
        """The tests pass, and are the same; or every file is as it was before the bug."""
        same = {name: text for name, text in files.items() if "test" in name or not self.tests}
        for name, text in same.items():
            found = folder / name
            if not found.is_file() or found.read_bytes() != text.encode():
                return False
        return not self.tests or passes(self.tests, folder)


def laid(folder: Path, files: Files) -> None:
    for name, text in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise ValueError(f"{name} leads out of the repository.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def passes(tests: str, folder: Path) -> bool:
    try:
        run = subprocess.run(
            tests, shell=True, cwd=folder, capture_output=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def repository(folder: Path, longest: int = LONGEST) -> Files:
    """The text files that git knows, at most `MOST_FILES`, none longer than so many bytes."""
    try:
        names = filter(None, git(folder, "ls-files", "-z").decode().split("\0"))
    except subprocess.CalledProcessError:
        raise SystemExit(f"{folder} is no git repository; --repo names one.") from None
    files = {}
    for name in sorted(names):
        path = folder / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= longest:
            try:
                files[name] = path.read_bytes().decode()
            except UnicodeDecodeError:
                continue
    return dict(list(files.items())[:MOST_FILES])


def tasks(files: Files, most: int, tests: str = "", seed: int = 1) -> list[Task]:
    """At most so many tasks, as different in kind as the repository allows; the same each time.

    With tests, only bugs that make them fail are taken.
    """
    found: dict[str, list[Task]] = {}
    dice = random.Random(seed)
    for task in places(files, tests):
        found.setdefault(task.kind, []).append(task)
    for each in found.values():
        dice.shuffle(each)
    chosen: list[Task] = []
    while len(chosen) < most and any(found.values()):
        for each in found.values():
            if each and len(chosen) < most:
                task = each.pop()
                if differs(task) and (not tests or fails(task, files)):
                    chosen.append(task)
    return chosen


def differs(task: Task) -> bool:
    """The code with the bug parses, and is other code: not the same in other words."""
    try:
        return ast.dump(ast.parse(task.broken)) != ast.dump(ast.parse(task.meant))
    except (SyntaxError, ValueError):
        return False


def fails(task: Task, files: Files) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        task.lay(Path(folder), files)
        return not passes(task.tests, Path(folder))


def places(files: Files, tests: str) -> Iterator[Task]:
    """Every bug that can be made in every file of Python that is not itself a test."""
    for path, text in files.items():
        if not path.endswith(".py") or "test" in path:
            continue
        lines, told = text.split("\n"), prose(text)
        for number, line in enumerate(lines):
            if number in told:
                continue
            for mutation in MUTATIONS:
                wrong = mutation.change(line)
                if wrong is None or wrong == line or line.lstrip().startswith(("#", "import")):
                    continue
                broken = "\n".join([*lines[:number], wrong, *lines[number + 1 :]])
                where = around(lines, number)
                prompt = TOLD.format(path=path, where=where, told=mutation.told)
                name = f"{mutation.kind}-{path}-{number + 1}"
                yield Task(
                    name, mutation.kind, path, TESTS.format(tests=tests) if tests else prompt,
                    broken, text, number + 1, tests,
                )  # fmt: skip


def prose(text: str) -> set[int]:
    """Lines, counted from 0, of texts that go over several lines; a bug in one is none."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError):
        return {*range(text.count("\n") + 1)}
    texts = [node for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)]
    spans = [range(node.lineno - 1, node.end_lineno or 0) for node in texts]
    return {number for span in spans if len(span) > 1 for number in span}


def around(lines: Sequence[str], number: int) -> str:
    """The function that a line is in, or else its tenth of the file."""
    for line in reversed(lines[: number + 1]):
        if found := re.match(r"\s*(?:async )?(?:def|class) (\w+)", line):
            return f"`{found[1]}`"
    return f"line {max(1, number // 10 * 10)}"
