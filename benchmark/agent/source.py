"""Python source read, cut and joined: what makes edit tasks and judges what became of them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

Files = Mapping[str, str]  # text by path
Defined = ast.FunctionDef | ast.AsyncFunctionDef


class Part(NamedTuple):
    """From a place to another (line, column in bytes, as `ast` counts) the text becomes `new`."""

    line: int
    at: int
    last: int
    end: int
    new: str

    @classmethod
    def of(cls, node: ast.expr | ast.arg | ast.keyword, new: str, width: int = 0) -> "Part":
        """A node, or as many bytes of its beginning."""
        if width:
            return cls(node.lineno, node.col_offset, node.lineno, node.col_offset + width, new)
        ends = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return cls(node.lineno, node.col_offset, *ends, new)

    @classmethod
    def after(cls, node: ast.expr | ast.arg, new: str) -> "Part":
        _, _, line, at, _ = cls.of(node, "")
        return cls(line, at, line, at, new)


def spliced(text: str, parts: Iterable[Part]) -> str:
    lines = [line.encode() for line in text.split("\n")]
    for line, at, last, end, new in sorted(parts, reverse=True):
        lines[line - 1 : last] = [lines[line - 1][:at] + new.encode() + lines[last - 1][end:]]
    return b"\n".join(lines).decode()


def parsed(text: str) -> ast.Module:
    """A tree to be changed; an empty module for what does not parse, which holds nothing wanted."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(500)
def tree(text: str) -> ast.Module:
    """The same tree each time."""
    return parsed(text)


@lru_cache(500)
def every(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(text)))


def functions(text: str) -> Iterator[ast.FunctionDef]:
    """Public ones at the top of a module."""
    for node in tree(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def function(text: str, name: str) -> ast.FunctionDef | None:
    return next((node for node in functions(text) if node.name == name), None)


def neighbour(text: str, name: str) -> str:
    """The public function right above; "" above the first and of one that is not there."""
    names = [node.name for node in functions(text)]
    return names[names.index(name) - 1] if name in names[1:] else ""


def span(node: ast.stmt) -> tuple[int, int]:
    """Its lines, decorators included, as a slice of the file's lines."""
    marks = getattr(node, "decorator_list", [])
    return min(one.lineno for one in (node, *marks)) - 1, node.end_lineno or 0


def cut(text: str, name: str) -> tuple[str, list[str]]:
    """A file without a function of its top, overloads included, and the lines of the function."""
    lines, taken = text.split("\n"), list[str]()
    for node in reversed(tree(text).body):
        if isinstance(node, Defined) and node.name == name:
            start, stop = span(node)
            taken[:0] = lines[start:stop]
            while stop < len(lines) - 1 and not lines[stop].strip():
                stop += 1
            del lines[start:stop]
    while lines[-2:] == ["", ""]:  # it was the last
        lines.pop()
    return "\n".join(lines), taken


def placed(text: str, above: str, new: Iterable[str]) -> str:
    """A file with lines below a function of its top, or at its end, where there is none."""
    lines, node = text.split("\n"), function(text, above)
    at = span(node)[1] if node else len(lines) - 1
    return "\n".join([*lines[:at], "", "", *new, *lines[at:]])


def imported(text: str, statement: str) -> str:
    """A file with an import behind the others of its top, or behind its docstring."""
    lines, body = text.split("\n"), tree(text).body
    heads = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    last = heads[-1:] or (body[:1] if ast.get_docstring(tree(text)) else [])
    at = (last[0].end_lineno or 0) if last else 0
    return "\n".join([*lines[:at], statement, *lines[at:]])


def exported(text: str) -> ast.List | ast.Tuple | None:
    """The value of `__all__`, where it is written out."""
    for node in tree(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return node.value if isinstance(node.value, ast.List | ast.Tuple) else None
    return None


def names(text: str) -> list[str] | None:
    found = exported(text)
    return [str(getattr(one, "value", "")) for one in found.elts] if found else None


def withdrawn(text: str, name: str) -> str:
    """A file whose `__all__` leaves out a name: its line, or its place in a line."""
    found, lines = exported(text), text.split("\n")
    wanted = [x for x in found.elts if getattr(x, "value", "") == name] if found else []
    for node in wanted:
        line = lines[node.lineno - 1]
        rest = line[: node.col_offset] + line[node.end_col_offset :].removeprefix(",").lstrip(" ")
        lines[node.lineno - 1 : node.lineno] = [rest.rstrip()] if rest.strip() else []
    return "\n".join(lines)


def announced(text: str, name: str) -> str:
    """A file whose `__all__` begins with a name more."""
    found = exported(text)
    if not found or not found.elts:
        return text
    first = found.elts[0]
    alone = text.split("\n")[first.lineno - 1][: first.col_offset].isspace()
    gap = "\n" + " " * first.col_offset if alone else " "
    place = first.lineno, first.col_offset
    return spliced(text, [Part(*place, *place, f"{name!r},{gap}")])


def imports(text: str) -> list[str]:
    """Absolute ones of the top of a module, one name each."""
    made = []
    for node in tree(text).body:
        if isinstance(node, ast.Import):
            made += [ast.unparse(ast.Import([one])) for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            made += [ast.unparse(ast.ImportFrom(node.module, [one], 0)) for one in node.names]
    return made


def bound(line: str) -> str:
    return re.split(r" as | import |^import ", line)[-1].partition(".")[0]


def rest(text: str, without: str = "", said: tuple[str, str] = ("", "")) -> list[str]:
    """Everything at the top of a module but imports, `__all__` and one function, as trees.

    said: a keyword of calls that counts as another.
    """
    kept = []
    for node in tree(text).body:
        head = isinstance(node, ast.Import | ast.ImportFrom)
        listed = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        if not head and not listed and not (without and getattr(node, "name", "") == without):
            dump, (old, new) = ast.dump(node), said
            kept.append(dump.replace(f"keyword(arg='{old}'", f"keyword(arg='{new}'"))
    return kept


def helpers(text: str) -> list[str]:
    """Values with a private name at the top of a module, as trees."""
    made = (node for node in tree(text).body if isinstance(node, ast.Assign | ast.AnnAssign))
    return [ast.dump(node) for node in made if ast.unparse(node).startswith("_")]


def colon(text: str, node: ast.FunctionDef) -> tuple[int, int]:
    """Line and column (in bytes) of the colon that ends a function's head."""
    lines, depth = text.split("\n")[node.lineno - 1 :], 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        depth += (token.string in "([{") - (token.string in ")]}") if token.string else 0
        if token.string == ":" and not depth:
            line, at = token.start
            return node.lineno + line - 1, len(lines[line - 1][:at].encode())
    raise ValueError(f"{node.name} has no end of its head.")


def module(path: str, files: Files) -> tuple[str, str]:
    """The folder that a module is imported from, and its dotted name."""
    folder = PurePosixPath(path).parent
    parts = [PurePosixPath(path).stem]
    while str(folder) != "." and f"{folder}/__init__.py" in files:
        parts[:0] = [folder.name]
        folder = folder.parent
    return str(folder), ".".join(parts).removesuffix(".__init__")
