"""Tasks of edits: what is to be done in a real package, how a script does it, how it is judged."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.agent import source
from benchmark.agent.source import Files
from benchmark.agent.strings import left, told
from benchmark.agent.tasks import Edit, laid, passes

PROBE = Path(__file__).with_name("probe.py")


@dataclass(frozen=True)
class Change:
    """path: the file that it begins in. before, after: files that differ from the package's as the
    task begins, and as the reference leaves it. facts: what its check wants to know.

    tests: a shell command that must succeed besides; "" for none. package: the folder of the files
    that it is about, where there are others; "" for all.
    """

    id: str
    kind: str
    path: str
    prompt: str
    before: dict[str, str]
    after: Files
    facts: Mapping[str, Any] = field(default_factory=dict)
    tests: str = ""
    package: str = ""

    def given(self, files: Files) -> Files:
        inside = f"{self.package}/" * bool(self.package)
        return {path: x for path, x in files.items() if path.startswith(inside)} | self.before

    def lay(self, folder: Path, files: Files) -> None:
        """Write the package; a path that leads out of the folder is refused."""
        laid(folder, self.given(files))

    def edits(self, files: Files) -> list[Edit]:
        """What the reference does to each file."""
        given = self.given(files)
        return [Edit(path, given[path], text) for path, text in self.after.items()]

    def solved(self, folder: Path, files: Files) -> bool:
        """No other file differs, the check of its kind holds, the code runs, the tests pass."""
        given = self.given(files)
        found = {path: text_of(folder / path) for path in given}
        if any(found[path] != text for path, text in given.items() if path not in self.after):
            return False
        if not CHECKS[self.kind](self.facts, given, found):
            return False
        root = folder / self.facts["root"]
        said = (sys.executable, "-B", PROBE, self.kind, json.dumps(dict(self.facts)))
        return runs(said, root) and (not self.tests or passes(self.tests, folder))


def text_of(path: Path) -> str:
    """ "" for what is not there, or is no text."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""


def runs(command: tuple[Any, ...], folder: Path) -> bool:
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


Facts = Mapping[str, Any]


def rename(facts: Facts, given: Files, found: Files) -> bool:
    """No call says the old name any more; but for the function and a helper, the code stays."""
    name, old = facts["function"], facts["old"]
    for path in facts["paths"]:
        for node in source.every(found[path]):
            said = [one.arg for one in node.keywords] if isinstance(node, ast.Call) else []
            if old in said and calls(node, name):
                return False
        without, pair = name if path == facts["path"] else "", (old, facts["new"])
        before, after = (source.rest(files[path], without, pair) for files in (given, found))
        new = source.helpers(found[path])  # such as a sentinel
        if before != [one for one in after if one in before or one not in new]:
            return False
    return True


def calls(node: ast.AST, name: str) -> bool:
    """Whether it calls a function of that name."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name


def move(facts: Facts, given: Files, found: Files) -> bool:
    """The same lines, below the right function; nothing else differs; lists and stubs follow."""
    name, (first, second) = facts["function"], facts["paths"]
    there = source.cut(found[second], name)[1]
    if (
        source.function(found[first], name)
        or source.neighbour(found[second], name) != facts["above"]
    ):
        return False
    if there != source.cut(given[first], name)[1]:
        return False
    for path in (first, second):
        if source.rest(found[path], name) != source.rest(given[path], name):
            return False
    stubs = [found[path] for path in facts["stubs"]]
    if stubs and (f"def {name}(" in stubs[0] or f"def {name}(" not in stubs[1]):
        return False
    listed = [source.names(given[path]) for path in (first, second)]
    if None in listed:
        return True
    wanted = [{*(listed[0] or [])} - {name}, {*(listed[1] or [])} | {name}]
    return [{*(source.names(found[path]) or [])} for path in (first, second)] == wanted


def annotate(facts: Facts, given: Files, found: Files) -> bool:
    """Every public function says all its types, and nothing else differs."""
    path = facts["path"]
    bare = [strip(text) for text in (given[path], found[path])]
    return bare[0] == bare[1] and not any(map(lacking, source.functions(found[path])))


def arguments(node: source.Defined) -> list[ast.arg]:
    said = node.args
    every = [*said.posonlyargs, *said.args, said.vararg, *said.kwonlyargs, said.kwarg]
    return [one for one in every if one]


def lacking(node: ast.FunctionDef) -> bool:
    return not node.returns or any(one.annotation is None for one in arguments(node))


def strip(text: str) -> list[str]:
    """A module's code without imports and the types of functions, private ones among them."""
    whole = source.parsed(text)
    for node in ast.walk(whole):
        if isinstance(node, source.Defined):
            node.returns = None
            for one in arguments(node):
                one.annotation = None
    typing = [
        n for n in whole.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)
    ]
    kept = [n for n in whole.body if n not in typing]
    return [ast.dump(n) for n in kept if not isinstance(n, ast.Import | ast.ImportFrom)]


def style(facts: Facts, given: Files, found: Files) -> bool:
    """No `%` is left behind a string, and every string says what it said."""
    path = facts["path"]
    return not left(found[path]) and told(found[path]) == told(given[path])


def feature(facts: Facts, given: Files, found: Files) -> bool:
    """The function stands beside its like, is listed with it, and nothing else differs."""
    path, name = facts["path"], facts["function"]
    if source.neighbour(found[path], name) != facts["above"]:
        return False
    listed, now = ({*(source.names(files[path]) or ())} for files in (given, found))
    same = source.rest(found[path], name) == source.rest(given[path])
    return same and now == listed | ({name} if facts["listed"] else set())


CHECKS: dict[str, Callable[[Facts, Files, Files], bool]] = {
    one.__name__: one for one in (rename, move, annotate, style, feature)
}


def code(files: Files) -> list[str]:
    """Modules that are not tests."""
    return [path for path in files if path.endswith(".py") and "test" not in path]
