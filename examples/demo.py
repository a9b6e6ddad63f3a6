"""The main job without a model: find, read, edit twice from one read, check. No key, no network.

Every step prints what a model would see; the line IDs it "types" are taken from that text.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

from fsagent_tools import Tool, Workspace, toolset

PROJECT = Path(__file__).parent / "project"


def step(tool: Tool, **arguments: object) -> str:
    """Call a tool as an agent would and show both sides."""
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    print(f"\n>>> {tool.name}({shown})")
    outcome = tool.call(arguments)
    print(outcome.text)
    return outcome.text


def line_id(seen: str, line: str) -> str:
    """The ID of the line that reads `line`, from text a tool returned, and its first words."""
    match = re.search(rf"([\w.]+)\t{re.escape(line)}$", seen, re.MULTILINE)
    if not match:
        raise SystemExit(f"no line {line!r} in what the tool returned")
    return " ".join([match[1], *line.split()[:2]])


def run_tests(folder: Path) -> bool:
    run = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=folder, capture_output=True, text=True
    )
    print(f"\n$ python -m unittest -q\n{run.stderr.strip().splitlines()[-1]}")
    return run.returncode == 0


def changes(folder: Path) -> str:
    """What differs between the shipped project and the edited copy."""
    text = []
    for before in sorted(PROJECT.rglob("*.py")):
        name = before.relative_to(PROJECT).as_posix()
        old, new = (path.read_text().splitlines() for path in (before, folder / name))
        text += unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(text)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__", ".ai"))
        tools = toolset("lines").bind(Workspace(folder))
        if run_tests(folder):
            raise SystemExit("the demo project should fail its tests before the edits")

        step(tools["grep"], pattern="cents or 0|BULK_FROM", path="shop")
        seen = step(tools["read"], file_path="shop/prices.py")
        first = line_id(seen, '    whole, _, cents = text.strip().partition(".")')
        last = line_id(seen, "    return int(whole) * 100 + int(cents or 0)")
        step(
            tools["edit_lines"],
            file_path="shop/prices.py",
            changes=[
                {
                    "line_id": last,
                    "new_content": '    return int(whole) * 100 + int(cents.ljust(2, "0"))',
                }
            ],
        )
        # No second read: `first` comes from before the edit and still names the same line.
        step(
            tools["edit_lines"],
            file_path="shop/prices.py",
            changes=[{"before_line_id": first, "new_content": "    # 12.5 is 12 and 50 cents"}],
        )
        seen = step(tools["grep"], pattern="self.count > BULK_FROM", path="shop")
        step(
            tools["edit_lines"],
            file_path="shop/cart.py",
            changes=[
                {
                    "line_id": line_id(seen, "        if self.count > BULK_FROM:"),
                    "new_content": "        if self.count >= BULK_FROM:",
                }
            ],
        )
        step(tools["read"], file_path="shop/prices.py", limit=10)

        passed = run_tests(folder)
        print("\n" + changes(folder))
        if not passed:
            raise SystemExit("the tests still fail")


if __name__ == "__main__":
    main()
