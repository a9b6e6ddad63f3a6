"""The Python of a Jupyter notebook as one module, and the cells that its lines are in."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from fsagent_tools.problems import Problem

MAX_NOTEBOOK = 16 << 20  # characters, pictures that its cells drew included
_MAGIC = re.compile(r"(?m)^([ \t]*)(?:%{1,2}[A-Za-z].*|![^=\n].*|\?{1,2}[\w.]+|[\w.]+\?{1,2})$")
_ASSIGNED = re.compile(r"(?m)^([ \t]*[\w, ]+=[ \t]*)(?:%[A-Za-z]|![^=\n]).*$")
_GIVEN = "import typing as _t; display: _t.Any = 0; get_ipython: _t.Any = 0\n"  # by IPython
_BY_CELL = ("E402", "E703", "I001", "B018")  # of Ruff, which judges these by cell


@dataclass(frozen=True)
class InCell(Problem):
    """A problem whose line is one of a cell, numbered from 1 among all."""

    cell: int = 0

    def __str__(self) -> str:
        return f"cell {self.cell}:{super().__str__()}"


@dataclass(frozen=True)
class Module:
    """`starts`: of each cell of code, its first line in `text`, from 1; numbers: of these cells."""

    text: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    def in_cells(self, found: Iterable[Problem]) -> list[Problem]:
        """Those that count, by the lines of their cells."""
        return [self._in_cell(p) for p in found if p.line > 1 and p.code not in _BY_CELL]

    def _in_cell(self, problem: Problem) -> Problem:
        place = bisect_right(self.starts, problem.line) - 1
        above = self.starts[place] - 1
        end = problem.end and (problem.end[0] - above, problem.end[1])
        told = {**vars(problem), "line": problem.line - above, "end": end}
        return InCell(**told, cell=self.numbers[place])


def module_of(notebook: str) -> Module | None:
    """None for what is no notebook, and for one of another language."""
    try:
        found = json.loads(notebook) if len(notebook) <= MAX_NOTEBOOK else {}
        about = found.get("metadata", {})
        if about.get("language_info", {}).get("name", "python") != "python":
            return None
        parts, line, starts, numbers = [_GIVEN], 2, list[int](), list[int]()
        for number, cell in enumerate(found["cells"], 1):
            if cell["cell_type"] == "code":
                code = _code("".join(cell["source"]))
                starts.append(line)
                numbers.append(number)
                parts.append(code)
                line += code.count("\n")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return Module("".join(parts), tuple(starts), tuple(numbers)) if numbers else None


def _code(source: str) -> str:
    """A cell as Python alone, with as many lines."""
    if source.lstrip().startswith("%%"):  # all of it is for a program, or of another language
        return "\n" * (source.count("\n") + 1)
    return _ASSIGNED.sub(r"\1get_ipython", _MAGIC.sub(r"\1get_ipython()", source)) + "\n"
