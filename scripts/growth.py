"""Prints how large the project is beside its budget, and fails where it grew.

`dev.py lint` runs it; `scripts/budget.toml` has the figures. `--land` writes those of now as the
last landing's. `--way` prints the way of a read and of an edit: the files in the order in which
they are entered, and what runs of each.
"""

import ast
import gc
import graphlib
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

from fsagent_tools import Outcome, Workspace, toolset

ROOT = Path(__file__).parents[1]
CORE = ROOT / "fsagent_tools"
BUDGET = Path(__file__).with_name("budget.toml")
LOOSE = "loose"  # the room of modules directly in the core
Graph = dict[str, set[str]]


class House:
    """Core and adapters of a checkout, by module."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        tops = [root / "fsagent_tools", *sorted((root / "adapters").glob("fsagent_tools_*"))]
        self.paths = {self._name(path): path for top in tops for path in top.rglob("*.py")}
        self.sources = {name: path.read_text() for name, path in self.paths.items()}
        self.trees = {name: ast.parse(source) for name, source in self.sources.items()}

    def _name(self, path: Path) -> str:
        top = self.root / "adapters"
        parts = (
            path.relative_to(top if path.is_relative_to(top) else self.root).with_suffix("").parts
        )
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def room(self, module: str) -> str:
        """An adapter, or the folder directly below the core."""
        top, *inner = module.split(".")
        if top != CORE.name:
            return top
        folder = len(inner) > 1 or (inner and self.paths[module].name == "__init__.py")
        return inner[0] if folder else LOOSE

    @cached_property
    def rooms(self) -> Counter[str]:
        """Lines by room."""
        found = Counter[str]()
        for module, source in self.sources.items():
            found[self.room(module)] += source.count("\n")
        return found

    @cached_property
    def imports(self) -> Graph:
        """What each module imports when it is imported itself."""
        return {
            module: set(self._imported(module, self.trees[module].body)) for module in self.trees
        }

    def _imported(self, module: str, body: list[ast.stmt]) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                targets = (self._known(target) for target in self._targets(module, node))
                yield from (target for target in targets if target not in ("", module))
            elif isinstance(node, ast.If):
                typing = "TYPE_CHECKING" in ast.dump(node.test)
                yield from self._imported(module, [*([] if typing else node.body), *node.orelse])
            elif isinstance(node, ast.Try):
                yield from self._imported(module, node.body)

    def _targets(self, module: str, node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        base = node.module or ""
        if node.level:
            inside = module.split(".")
            if self.paths[module].name != "__init__.py":
                inside.pop()
            base = ".".join([*inside[: len(inside) - node.level + 1], *base.split(".")]).strip(".")
        return [f"{base}.{alias.name}" for alias in node.names]

    def _known(self, name: str) -> str:
        while name and name not in self.paths:
            name = name.rpartition(".")[0]
        return name

    def figures(self) -> dict[str, float]:
        lines, graph = self.rooms.total(), self.imports
        names = sum(map(_public_names, self.trees.values()))
        try:
            height, circles = levels(graph), 0
        except graphlib.CycleError:
            height, circles = 0, 1
        return {
            "lines": lines,
            "modules": len(self.paths),
            "levels": height,
            "circles": circles,
            "levels of rooms": levels(_rooms()),
            "public names per 1,000 lines": round(1000 * names / lines, 1),
            "longest file": max(source.count("\n") for source in self.sources.values()),
            "longest function": max(map(_longest_function, self.trees.values())),
            "tests": self._lines_below("tests"),
            "benchmark": self._lines_below("benchmark"),
            "scripts": self._lines_below("scripts"),
        }

    def _lines_below(self, folder: str) -> int:
        return sum(
            p.read_text(errors="ignore").count("\n") for p in (self.root / folder).rglob("*.py")
        )


def _public_names(tree: ast.Module) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return sum(isinstance(node, kinds) and node.name[0] != "_" for node in tree.body)


def _longest_function(tree: ast.Module) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return max(((node.end_lineno or 0) - node.lineno + 1 for node in found), default=0)


def levels(graph: Graph) -> int:
    """The longest chain of what imports each other; `CycleError` where that has no end."""
    height = dict[str, int]()
    for name in graphlib.TopologicalSorter(graph).static_order():
        height[name] = 1 + max((height[used] for used in graph.get(name, ())), default=0)
    return max(height.values())


def _rooms() -> Graph:
    table = tomllib.loads((ROOT / "tests/rooms.toml").read_text())
    return {name: {*room["uses"]} for name, room in table.items()}


def too_large(
    figures: Mapping[str, float], rooms: Mapping[str, int], budget: Mapping[str, Any]
) -> list[str]:
    """A sentence for each figure above the last landing's, and each rebuilt room above its own."""
    wrong = [
        f"{name}: {figures[name]:,}, and {most:,} at the last landing"
        for name, most in budget["landing"].items()
        if figures[name] > most
    ]
    for room in budget["rebuilt"]["rooms"]:
        lines, most = rooms.get(room, 0), budget["rooms"][room]
        if lines > most:
            wrong.append(f"{room}: {lines:,} lines, and {most:,} is its budget")
    return wrong


def land(figures: Mapping[str, float], path: Path = BUDGET) -> None:
    """Write the figures as those of the last landing."""
    text = path.read_text()
    for name in tomllib.loads(text)["landing"]:
        text = re.sub(rf"^{name} = \d+", f"{name} = {figures[name]}", text, count=1, flags=re.M)
    path.write_text(text)


def entered(call: Callable[[], Outcome]) -> dict[Path, list[str]]:
    """The files of the core that are entered between here and the disk, with their functions."""
    found = dict[Path, list[str]]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if event == "call" and path.is_relative_to(CORE):
            names = found.setdefault(path, [])
            if name not in names and "<" not in name:
                names.append(name)

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what is collected inside the call would enter files of its own
    sys.setprofile(note)
    try:
        outcome = call()
    finally:
        sys.setprofile(before)
        gc.enable()
    assert outcome.ok, outcome.text
    return found


def _calls() -> Iterable[tuple[str, dict[Path, list[str]]]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.py").write_text("one\ntwo\n")
        tools = toolset("workspace").bind(Workspace(folder))

        def read() -> Outcome:
            return tools["read"].call({"file_path": "a.py"})

        def edit(text: str) -> Callable[[], Outcome]:
            change = {"line_id": read().text.split("\n")[0], "new_content": text}
            arguments = {"file_path": "a.py", "changes": [change]}
            return lambda: tools["edit_lines"].call(arguments)

        yield "first read", entered(read)
        yield "warm read", entered(read)
        yield "first edit", entered(edit("1"))
        yield "warm edit", entered(edit("2"))


def way() -> None:
    for what, found in _calls():
        if what.startswith("warm"):
            print(f"\n{what}: {len(found)} files")
            for path, names in found.items():
                print(f"  {path.relative_to(CORE)}: {', '.join(names)}")


def main() -> None:
    budget, house = tomllib.loads(BUDGET.read_text()), House()
    figures = house.figures()
    if "--land" in sys.argv:
        land(figures)
        budget = tomllib.loads(BUDGET.read_text())
    for name, figure in figures.items():
        beside = {"last landing": budget["landing"].get(name), "goal": budget["goal"].get(name)}
        told = ", ".join(f"{what} {most:,}" for what, most in beside.items() if most is not None)
        print(f"{name}: {figure:,}{f' ({told})' if told else ''}")
    for room, lines in house.rooms.most_common():
        held = " rebuilt" if room in budget["rebuilt"]["rooms"] else ""
        print(f"  {room:26} {lines:6,} of {budget['rooms'].get(room, 0):5,}{held}")
    print("; ".join(f"files of a {what}: {len(found)}" for what, found in _calls()))
    if wrong := too_large(figures, house.rooms, budget):
        sys.exit("Too large:\n" + "\n".join(wrong))


if __name__ == "__main__":
    way() if "--way" in sys.argv else main()
