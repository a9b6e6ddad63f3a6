"""Tools as a session uses them, ours and deepagents', with all that was said."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from fsagent_tools import Toolset, Workspace, toolset
from fsagent_tools.lines.styles import StyleName
from fsagent_tools.tools.tokens import definition

Pairs = Sequence[tuple[str, str]]  # old and new lines
SIX = ("read", "write", "edit_lines", "glob", "grep", "ls", "bash")


@dataclass
class Told:
    """What was said in a session: tool definitions, then arguments and results in turn."""

    definitions: list[str]
    arguments: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def add(self, name: str, arguments: dict[str, Any], result: str) -> str:
        self.arguments.append(json.dumps({"name": name, "arguments": arguments}))
        self.results.append(result)
        return result


def place(shown: str, lines: list[str]) -> int:
    """The row of a read that begins these lines."""
    rows = shown.split("\n")
    fits = (
        at for at in range(len(rows)) if all(map(str.endswith, rows[at : at + len(lines)], lines))
    )
    return next(fits)


def marked(row: str, line: str) -> str:
    """The ID before a line, as a model sends it, with two words of the line."""
    mark = re.findall(r"[\w.]+", row[: -len(line)])[-1]
    return f"{mark} {' '.join(line.split()[:2])}"


def asked(shown: str, old: str, new: str) -> dict[str, str]:
    """The change of lines that were read, by ID."""
    lines = old.split("\n")
    at = place(shown, lines)
    first, last = shown.split("\n")[at], shown.split("\n")[at + len(lines) - 1]
    if len(lines) == 1:
        return {"line_id": marked(first, old), "new_content": new}
    ends = marked(first, lines[0]), marked(last, lines[-1])
    return {"start_line_id": ends[0], "end_line_id": ends[1], "new_content": new}


class Ours:
    """Tools that edit by ID, or those of a toolset; names: which are defined, none: all."""

    def __init__(
        self,
        root: Path,
        style: StyleName | None,
        names: tuple[str, ...],
        tools: Toolset | None = None,
    ) -> None:
        self.root = root
        self.tools = (tools or toolset("workspace")).bind(Workspace(root, line_ids=style))
        every = [*self.tools.values()] if not names else [self.tools[name] for name in names]
        self.told = Told([json.dumps(definition(tool), separators=(",", ":")) for tool in every])

    def call(self, name: str, **arguments: Any) -> str:
        out = self.tools[name].call(arguments)
        assert out.ok, out.text
        return self.told.add(name, arguments, out.text)

    def look(self) -> None:
        self.call("ls")
        self.call("glob", pattern="**/*.py")

    def search(self, pattern: str) -> None:
        self.call("grep", pattern=pattern)

    def read(self, path: str) -> str:
        return self.call("read", file_path=path)

    def change(self, path: str, shown: str, pairs: Pairs) -> None:
        self.call("edit_lines", file_path=path, changes=[asked(shown, *pair) for pair in pairs])

    def rename(self, path: str, shown: str, old: str, new: str) -> None:
        lines = (self.root / path).read_text().split("\n")
        self.change(path, shown, [(line, line.replace(old, new)) for line in lines if old in line])

    def write(self, path: str, text: str) -> None:
        self.call("write", file_path=path, content=text)

    def run(self, command: str) -> None:
        self.call("bash", command=command)


class _Bound(GenericFakeChatModel):
    """Keeps what an agent binds."""

    bound: list[Any] = []  # noqa: RUF012  # pydantic copies it

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound[:] = tools
        return self


def shortest(text: str, old: str, new: str) -> tuple[str, str]:
    """A quote and its replacement without the words that both share at their ends, while the quote
    is in the text once.
    """
    before, after = re.findall(r"\w+|\W", old), re.findall(r"\w+|\W", new)
    for end in (0, -1):
        while len(before) > 1 and before[end : end + 1 or None] == after[end : end + 1 or None]:
            kept = before[1:] if end == 0 else before[:-1]
            if text.count("".join(kept)) != 1:
                break
            before, after = kept, after[1:] if end == 0 else after[:-1]
    return "".join(before), "".join(after)


class Theirs:
    """deepagents' tools, as its own agent binds them, and used at their best: no argument that is
    the default, the shortest quote, `replace_all` for a rename.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        backend = LocalShellBackend(root_dir=root, inherit_env=True)
        model = _Bound(messages=iter([AIMessage("done")]))
        agent: Any = create_deep_agent(model=model, backend=backend)
        agent.invoke({"messages": [("user", "go")]})
        self.functions: dict[str, Callable[..., Any]] = {x.name: x.func for x in model.bound}
        definitions = [convert_to_openai_tool(tool) for tool in model.bound]
        self.told = Told([json.dumps(one, separators=(",", ":")) for one in definitions])

    def call(self, name: str, **arguments: Any) -> str:
        runtime = SimpleNamespace(tool_call_id="1", state={}, config={})
        message = self.functions[name](**arguments, runtime=runtime)
        assert "rror" not in str(message.content)[:12], message.content
        return self.told.add(name, arguments, str(message.content))

    def look(self) -> None:
        self.call("ls", path="/")
        self.call("glob", pattern="**/*.py")

    def search(self, pattern: str) -> None:
        self.call("grep", pattern=pattern, output_mode="content")

    def read(self, path: str) -> str:
        return self.call("read_file", file_path=f"/{path}", limit=2000)

    def change(self, path: str, shown: str, pairs: Pairs) -> None:
        for pair in pairs:
            old, new = shortest((self.root / path).read_text(), *pair)
            self.call("edit_file", file_path=f"/{path}", old_string=old, new_string=new)

    def rename(self, path: str, shown: str, old: str, new: str) -> None:
        said = {"old_string": old, "new_string": new, "replace_all": True}
        self.call("edit_file", file_path=f"/{path}", **said)

    def write(self, path: str, text: str) -> None:
        self.call("write_file", file_path=f"/{path}", content=text)

    def run(self, command: str) -> None:
        self.call("execute", command=command)


Side = Ours | Theirs
