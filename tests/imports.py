"""Who imports whom below a package, in every spelling that Python has; nothing is executed."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOADERS = {"import_module", "__import__"}


@dataclass(frozen=True)
class Import:
    """`target` is a dotted module name; "" for a name that is worked out when it runs.

    typing: beneath `if TYPE_CHECKING`. hidden: inside a function.
    """

    line: int
    target: str
    typing: bool = False
    hidden: bool = False
    foreign: bool = False


class Package:
    """The modules below `folder`, by dotted name; a package is its `__init__.py`."""

    def __init__(self, folder: Path):
        self.name, self.folder = folder.name, folder
        self.files = {self._named(path): path for path in sorted(folder.rglob("*.py"))}

    def _named(self, path: Path) -> str:
        parts = path.relative_to(self.folder.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def room(self, module: str) -> str:
        """The folder or file directly below the package; "" is the package itself."""
        return [*module.split("."), ""][1]

    def imports(self, module: str, source: str | None = None) -> list[Import]:
        """First-party imports and unreadable ones, of a module or of `source` in its place."""
        path = self.files.get(module)
        tree = ast.parse(path.read_text() if source is None else source)
        inside = module if path and path.name == "__init__.py" else module.rpartition(".")[0]
        return [i for i in self._walk(tree, Scope(inside, self._loaders(tree))) if not i.foreign]

    def _loaders(self, tree: ast.AST) -> set[str]:
        """`import_module` and `__import__` under all names that this file gives them."""
        given = (n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom))
        names = {a.asname for n in given for a in n.names if a.name in LOADERS and a.asname}
        assigned = (n for n in ast.walk(tree) if isinstance(n, ast.Assign))
        more = {t.id for n in assigned if _last(n.value) in LOADERS for t in n.targets}
        return LOADERS | names | more

    def _walk(self, node: ast.AST, scope: "Scope") -> Iterator[Import]:
        for target in self._targets(node, scope):
            own = target == "" or target.split(".")[0] == self.name
            yield Import(node.lineno, target, scope.typing, scope.hidden, foreign=not own)
        for child in ast.iter_child_nodes(node):
            yield from self._walk(child, scope.below(node, child))

    def _targets(self, node: ast.AST, scope: "Scope") -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, scope.package)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in self.files else base
        elif isinstance(node, ast.Call) and _last(node.func) in scope.loaders and node.args:
            yield _spelled(node.args[0], scope.package)


@dataclass(frozen=True)
class Scope:
    package: str
    loaders: set[str]
    typing: bool = False
    hidden: bool = False

    def below(self, node: ast.AST, child: ast.AST) -> "Scope":
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing = isinstance(node, ast.If) and child in node.body and _is_typing(node.test)
        return Scope(self.package, self.loaders, self.typing or typing, self.hidden or function)


def _is_typing(test: ast.expr) -> bool:
    return _last(test) == "TYPE_CHECKING"


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def _spelled(argument: ast.expr, package: str) -> str:
    """The module that a call loads; `f"{__name__}.{x}"` is some part of the package itself."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return package + argument.value if argument.value[0] == "." else argument.value
    if isinstance(argument, ast.JoinedStr):
        first = argument.values[0]
        if isinstance(first, ast.FormattedValue):
            return f"{package}.*" if _last(first.value) in ("__name__", "__package__") else ""
        return first.value  # a foreign package by its first words, or ours
    return ""
