"""Prints how large the core is and how far a call goes in it, so that growth is seen.

`dev.py lint` runs it; tests/test_architecture.py holds the bounds. With `--way` it prints the way
of a read and of an edit: the files in the order in which they are entered, and what runs of each.
"""

import ast
import gc
import io
import sys
import tempfile
import tokenize
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from fsagent_tools import Outcome, Workspace, toolset

ROOT = Path(__file__).parents[1]
CORE = ROOT / "fsagent_tools"
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(source: str) -> int:
    """Without blank lines, comments and docstrings."""
    found = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT | {tokenize.ENDMARKER}:
            found |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            found -= set(range(text.lineno, (text.end_lineno or 0) + 1))
    return len(found)


def loose_modules() -> list[str]:
    """The files directly in the core, which are in no room."""
    return sorted(path.stem for path in CORE.glob("*.py") if path.stem != "__init__")


def levels() -> int:
    """The longest chain of rooms that import each other, by tests/rooms.toml."""
    rooms = tomllib.loads((ROOT / "tests/rooms.toml").read_text())
    height = dict[str, int]()
    for name in reversed(rooms):
        height[name] = 1 + max((height[used] for used in rooms[name]["uses"]), default=0)
    return max(height.values())


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
    sources = [p.read_text() for r in (CORE, ROOT / "adapters") for p in r.rglob("*.py")]
    print(f"lines of code of core and adapters: {sum(map(code_lines, sources)):,}")
    print(f"all their lines: {sum(source.count(chr(10)) for source in sources):,}")
    print(f"loose modules: {len(loose_modules())}; levels of rooms: {levels()}")
    print("; ".join(f"files of a {what}: {len(found)}" for what, found in _calls()))


if __name__ == "__main__":
    way() if "--way" in sys.argv else main()
