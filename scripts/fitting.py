"""Which tests an environment can run that lacks some of what `.venv` has.

By what they import, at any depth of a file and in programs that they hold as text, themselves or
through helpers and fixtures. `importorskip` is no need: such a test skips itself.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

IN_TEXT = re.compile(r"\b(?:from|import)\s+([\w.]+)")


def modules(requirements: Iterable[str]) -> set[str]:
    """Top-level names that the distributions bring, with all they require and `.venv` has."""
    seen: set[tuple[str, str]] = set()
    left = [Requirement(text) for text in requirements]
    while left:
        wanted = left.pop()
        for extra in ("", *wanted.extras):
            if (known := (canonicalize_name(wanted.name), extra)) in seen:
                continue
            seen.add(known)
            try:
                inner = [Requirement(text) for text in requires(wanted.name) or ()]
            except PackageNotFoundError:
                continue
            left += [r for r in inner if not r.marker or r.marker.evaluate({"extra": extra})]
    names = {name for name, _ in seen}
    brought = packages_distributions().items()
    return {name for name, by in brought if names & {*map(canonicalize_name, by)}}


class Suite:
    """The test files in a folder, and what else is read to know what they need.

    `helpers` are folders of modules that tests import, or start by their file's name. `words` are
    strings that need a module wherever they stand, such as a command that a distribution brings.
    """

    def __init__(self, folder: Path, helpers: Iterable[Path], words: dict[str, str]):
        self.files = sorted(folder.glob("test_*.py"))
        self.words = words
        self.helpers: dict[str, Path] = {}
        self.fixtures: dict[str, set[str]] = {}
        self.always: set[str] = set()
        for place in helpers:
            for path in sorted(place.glob("*.py")):
                for name in (path.stem, path.name, f"{place.name}.{path.stem}"):
                    self.helpers[name] = path
            if (path := place / "conftest.py").exists():
                self._shared(ast.parse(path.read_text()))

    def _shared(self, conftest: ast.Module) -> None:
        """What a fixture imports, for those who ask for it; what all others do, for everybody."""
        for node in conftest.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.fixtures[node.name] = set(self._named(node))
            else:
                self.always |= set(self._named(node))

    def _named(self, tree: ast.AST) -> Iterator[str]:
        """Dotted names of what is imported; words of texts that are no modules among them."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
            elif isinstance(node, ast.Constant) and isinstance(text := node.value, str):
                yield from IN_TEXT.findall(text)
                yield self.words.get(text, text if text in self.helpers else "")
            elif isinstance(node, ast.arg):
                yield from self.fixtures.get(node.arg, ())

    def needs(self, path: Path) -> set[str]:
        """The top-level names in `_named` of the file and of all helpers that it comes to."""
        found, left, read = set(), [*self.always], {path}
        left += self._named(ast.parse(path.read_text()))
        while left:
            name = left.pop()
            if helper := self.helpers.get(name):
                if helper not in read:
                    read.add(helper)
                    left += self._named(ast.parse(helper.read_text()))
            else:
                found.add(name.partition(".")[0])
        return found - self.helpers.keys() - {""}
