"""Tokens of one scripted session, in every style of line IDs and in deepagents.

python -m benchmark.tokens.session: a constant is renamed in four places, another file changed, a
note written, a command run, the file read again. Input is what the model is sent over all calls:
definitions, and all arguments and results so far.
"""

import json
import re
import sched
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from benchmark.tokens.counting import counted
from fsagent_tools import Workspace, toolset
from fsagent_tools.lines.styles import STYLES, StyleName
from fsagent_tools.tokens import definition

FILES = ("sched.py", "bisect.py", "getopt.py", "fnmatch.py")
NOTE = "# Notes\n\n- `_sentinel` is now `_MISSING`\n- a missing argument is reported in one way\n"
RENAMED = [  # lines of sched.py, and what becomes of them
    (line, line.replace("_sentinel", "_MISSING"))
    for line in Path(sched.__file__).read_text().split("\n")
    if "_sentinel" in line
]
OTHER = ('    if type(longopts) == type(""):', "    if isinstance(longopts, str):")  # in getopt.py
RUN = "python3 -c 'import sched; print(sched._MISSING is not None)'"
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


def marked(shown: str, line: str) -> str:
    """The ID before the first such line, as a model sends it, with two words of the line."""
    row = next(row for row in shown.split("\n") if row.endswith(line))
    mark = re.findall(r"[\w.]+", row[: -len(line)])[-1]
    return f"{mark} {' '.join(line.split()[:2])}"


def ours(root: Path, style: StyleName, names: tuple[str, ...]) -> Told:
    tools = toolset("workspace").bind(Workspace(root, line_ids=style))
    every = [*tools.values()] if not names else [tools[name] for name in names]
    told = Told([json.dumps(definition(tool), separators=(",", ":")) for tool in every])

    def call(name: str, **arguments: Any) -> str:
        out = tools[name].call(arguments)
        assert out.ok, out.text
        return told.add(name, arguments, out.text)

    def change(path: str, shown: str, lines: list[tuple[str, str]]) -> None:
        key = "line_id"
        asked = [{key: marked(shown, old), "new_content": new} for old, new in lines]
        call("edit_lines", file_path=path, changes=asked)

    call("ls", path=".")
    call("glob", pattern="**/*.py")
    call("grep", pattern="_sentinel")
    change("sched.py", call("read", file_path="sched.py"), RENAMED)
    change("getopt.py", call("read", file_path="getopt.py"), [OTHER])
    call("write", file_path="NOTES.md", content=NOTE)
    call("bash", command=RUN)
    call("read", file_path="sched.py")
    call("grep", pattern="_MISSING")
    call("read", file_path="NOTES.md")
    return told


class _Bound(GenericFakeChatModel):
    """Keeps what an agent binds."""

    bound: list[Any] = []  # noqa: RUF012  # pydantic copies it

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound[:] = tools
        return self


def theirs(root: Path) -> Told:
    backend = LocalShellBackend(root_dir=root, inherit_env=True)
    model = _Bound(messages=iter([AIMessage("done")]))
    agent: Any = create_deep_agent(model=model, backend=backend)
    agent.invoke({"messages": [("user", "go")]})
    functions: dict[str, Callable[..., Any]] = {tool.name: tool.func for tool in model.bound}
    definitions = [convert_to_openai_tool(tool) for tool in model.bound]
    told = Told([json.dumps(one, separators=(",", ":")) for one in definitions])
    runtime = SimpleNamespace(tool_call_id="1", state={}, config={})

    def call(name: str, **arguments: Any) -> None:
        message = functions[name](**arguments, runtime=runtime)
        assert "rror" not in str(message.content)[:12], message.content
        told.add(name, arguments, str(message.content))

    def change(path: str, lines: list[tuple[str, str]]) -> None:
        for old, new in lines:
            call("edit_file", file_path=path, old_string=old, new_string=new)

    call("ls", path="/")
    call("glob", pattern="**/*.py", path="/")
    call("grep", pattern="_sentinel", path="/", output_mode="content")
    call("read_file", file_path="/sched.py", offset=0, limit=2000)
    change("/sched.py", RENAMED)
    call("read_file", file_path="/getopt.py", offset=0, limit=2000)
    change("/getopt.py", [OTHER])
    call("write_file", file_path="/NOTES.md", content=NOTE)
    call("execute", command=RUN)
    call("read_file", file_path="/sched.py", offset=0, limit=2000)
    call("grep", pattern="_MISSING", path="/", output_mode="content")
    call("read_file", file_path="/NOTES.md", offset=0, limit=2000)
    return told


def fresh(folder: str) -> Path:
    root = Path(tempfile.mkdtemp(dir=folder))
    for name in FILES:
        shutil.copy(Path(sched.__file__).with_name(name), root)
    return root


def sides() -> dict[str, Told]:
    """The session with each set of tools."""
    with tempfile.TemporaryDirectory() as folder:
        told = {"deepagents": theirs(fresh(folder))}
        for style in STYLES:
            told[style] = ours(fresh(folder), style, SIX)
        told["words, whole toolset"] = ours(fresh(folder), "words", ())
    return told


def totals() -> dict[str, dict[str, int]]:
    """By tokenizer and side, what the model is sent over all calls of the session."""
    every = sides()
    found = {}
    for tokenizer, counts in counted([t for told in every.values() for t in all_of(told)]).items():
        rest = iter(counts)
        found[tokenizer] = {name: row(told, rest)[-1] for name, told in every.items()}
    return found


def main() -> None:
    every = sides()
    texts = [text for told in every.values() for text in all_of(told)]
    for tokenizer, counts in counted(texts).items():
        print(f"{tokenizer}: definitions, calls, arguments, results, input over the session")
        rest = iter(counts)
        rows = {name: row(told, rest) for name, told in every.items()}
        peer = rows["deepagents"]
        for name, (*parts, results, whole) in rows.items():
            share = f"results {results / peer[-2]:.2f}x, session {whole / peer[-1]:.2f}x"
            print(f"  {name:22}", *(f"{n:7,}" for n in (*parts, results, whole)), share)


def all_of(told: Told) -> list[str]:
    return [*told.definitions, *told.arguments, *told.results]


def row(told: Told, counts: Iterator[int]) -> list[int]:
    """The numbers of one side; takes its texts' counts."""
    definitions, said, results = (
        [next(counts) for _ in texts] for texts in (told.definitions, told.arguments, told.results)
    )
    so_far = whole = 0
    for argument, result in zip(said, results, strict=True):
        whole += sum(definitions) + so_far
        so_far += argument + result
    return [sum(definitions), len(said), sum(said), sum(results), whole]


if __name__ == "__main__":
    main()
