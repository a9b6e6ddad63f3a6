"""The toolsets whose edits quote, as a session uses them: each verb in its tools and words."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from benchmark.tokens.sides import Ours, Pairs, shortest
from fsagent_tools import Toolset, toolset
from fsagent_tools.toolsets.anthropic import EDITOR

Said = tuple[str, dict[str, Any]]
CONTEXT = 3  # lines of a patch on both sides, as models write it


@dataclass(frozen=True)
class Form:
    """What is called for each verb."""

    tools: Toolset
    look: tuple[Said, ...]
    search: Callable[[str], Said]
    read: Callable[[str], Said]
    change: Callable[[str, str, Pairs], list[Said]]  # path, its text, old and new lines
    write: Callable[[str, str], Said]
    run: Callable[[str], Said]


def bash(command: str) -> Said:
    return "bash", {"command": command}


def shell(command: str) -> Said:
    return "shell", {"command": ["bash", "-lc", command]}


def quoting(name: str, old: str, new: str, said: dict[str, str]) -> Any:
    """A call for each change, with the shortest quote that is in the text once."""

    def change(path: str, text: str, pairs: Pairs) -> list[Said]:
        calls = []
        for pair in pairs:
            before, after = shortest(text, *pair)
            calls.append((name, {**said, "path": path, old: before, new: after}))
            text = text.replace(before, after, 1)
        return calls

    return change


def patch(path: str, text: str, pairs: Pairs) -> list[Said]:
    """One patch: its parts with the lines around them."""
    lines = text.split("\n")
    rows = ["*** Begin Patch", f"*** Update File: {path}"]
    for old, new in pairs:
        gone = old.split("\n")
        at = next(n for n in range(len(lines)) if lines[n : n + len(gone)] == gone)
        end = at + len(gone)
        rows += ["@@", *(f" {x}" for x in lines[max(0, at - CONTEXT) : at])]
        rows += [*(f"-{x}" for x in gone), *(f"+{x}" for x in new.split("\n"))]
        rows += [f" {x}" for x in lines[end : end + CONTEXT]]
        lines[at:end] = new.split("\n")
    return [("apply_patch", {"input": "\n".join([*rows, "*** End Patch"])})]


def added(path: str, text: str) -> Said:
    body = "".join(f"+{line}\n" for line in text.splitlines())
    return "apply_patch", {"input": f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch"}


def edited(command: str, **arguments: Any) -> Said:
    return EDITOR, {"command": command, **arguments}


FORMS = {
    "compact": Form(
        toolset("compact").joined(toolset("lines").only("bash")),
        (("Glob", {"pattern": "*"}), ("Glob", {"pattern": "**/*.py"})),
        lambda pattern: ("Grep", {"pattern": pattern}),
        lambda path: ("Read", {"file_path": path}),
        quoting("Edit", "old_string", "new_string", {}),
        lambda path, text: ("Write", {"file_path": path, "content": text}),
        bash,
    ),
    "anthropic": Form(
        toolset("anthropic"),
        (edited("view", path="."), bash("find . -name '*.py'")),
        lambda pattern: bash(f"grep -rnE {quote(pattern)} --include='*.*' ."),
        lambda path: edited("view", path=path),
        quoting(EDITOR, "old_str", "new_str", {"command": "str_replace"}),
        lambda path, text: edited("create", path=path, file_text=text),
        bash,
    ),
    "openai": Form(
        toolset("openai"),
        (shell("ls"), shell("find . -name '*.py'")),
        lambda pattern: ("grep", {"pattern": pattern}),
        lambda path: ("read", {"path": path}),
        patch,
        added,
        shell,
    ),
}


class Quoting(Ours):
    """One of these toolsets, with all its tools."""

    def __init__(self, root: Path, name: str) -> None:
        self.form = FORMS[name]
        super().__init__(root, None, (), self.form.tools)

    def said(self, call: Said) -> str:
        return self.call(call[0], **call[1])

    def look(self) -> None:
        for call in self.form.look:
            self.said(call)

    def search(self, pattern: str) -> None:
        self.said(self.form.search(pattern))

    def read(self, path: str) -> str:
        return self.said(self.form.read(path))

    def change(self, path: str, shown: str, pairs: Pairs) -> None:
        for call in self.form.change(path, (self.root / path).read_text(), pairs):
            self.said(call)

    def write(self, path: str, text: str) -> None:
        self.said(self.form.write(path, text))

    def run(self, command: str) -> None:
        self.said(self.form.run(command))
