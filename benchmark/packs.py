"""The tools that are measured: which dialect each speaks, and how its driver is started."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.dialects.base import Dialect
from benchmark.dialects.hashes import Hashline, OhMyPi
from benchmark.dialects.ids import Ids
from benchmark.dialects.quotes import Patch, Quotes
from fsagent_tools.lines.ids import StyleName
from fsagent_tools.toolsets.anthropic import EDITOR

DRIVERS = Path(__file__).with_name("drivers")
NODE = "node_modules"
CODEX = f"{NODE}/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
SERVER = f"{NODE}/@modelcontextprotocol/server-filesystem/dist/index.js"
WARNED = re.compile(
    r"(?i)\bwarning\b|no exact match|occurrences \(line|^syntax error after this edit"
)


@dataclass(frozen=True)
class Own:
    """One of our tools, in this process: its toolset, what reads and edits, the style of marks.

    reading: what a read says beside the path.
    """

    name: str
    make: Callable[[], Dialect]
    toolset: str = "workspace"
    read: str = "read"
    edit: str = "edit_lines"
    style: StyleName = "tag"
    reading: Mapping[str, str] = field(default_factory=dict)
    ours: bool = True
    one_text: bool = False


@dataclass(frozen=True)
class Peer:
    """A pack in an environment of its own.

    group: its dependency group in pyproject.toml, or "" for npm packages `npm`. command: the words
    that start its driver; `{env}` is the folder of the environment, `{root}` the files' one.
    one_text: a call is a text without named arguments. pair: its tools that read and edit; none
    where it is no set of tools.
    """

    name: str
    make: Callable[[], Dialect]
    group: str = ""
    npm: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    ours: bool = False
    one_text: bool = False
    pair: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        return self.group or self.name.split()[0].replace("/", "-")


def python(driver: str, *more: str) -> tuple[str, ...]:
    return ("{env}/bin/python", str(DRIVERS / driver), "{root}", *more)


def here(driver: str, *more: str) -> tuple[str, ...]:
    """A driver of the standard library only, run by this Python."""
    return ("{python}", str(DRIVERS / driver), "{root}", *more)


OURS = (
    Own("edit_lines tag", lambda: Ids("tag", words=False)),
    Own("edit_lines tag, first words", lambda: Ids("tag", words=True)),
    Own("edit_lines words", lambda: Ids("words", words=True), style="words"),
    Own("edit (compact)", Quotes, "compact", "Read", "Edit"),
    Own("edit_file (file_ops)", Quotes, "file_ops", "read_file", "edit_file"),
    Own(
        "str_replace (anthropic)",
        lambda: Quotes("path", "old_str", "new_str", said={"command": "str_replace"}),
        "anthropic",
        EDITOR,
        EDITOR,
        reading={"command": "view"},
    ),
    Own(
        "apply_patch (openai)",
        lambda: Patch(parameter="input"),
        "openai",
        "read",
        "apply_patch",
        one_text=True,
    ),
)
PEERS = (
    Peer(
        "deepagents edit_file", Quotes, "peer-deepagents", command=python("deepagents_.py"),
        pair=("read_file", "edit_file"),
    ),
    Peer(
        "pydantic-ai-backend hashline", Hashline, "peer-pydantic-ai-backend",
        command=python("pydantic_ai_.py", "hashline"), pair=("read_file", "hashline_edit"),
    ),
    Peer(
        "pydantic-ai-backend string", lambda: Quotes("path"), "peer-pydantic-ai-backend",
        command=python("pydantic_ai_.py", "str_replace"), pair=("read_file", "edit_file"),
    ),
    Peer(
        "mcp server-filesystem", lambda: Quotes("path", "oldText", "newText", "edits"),
        npm=("@modelcontextprotocol/server-filesystem@2026.8.31",),
        command=here("mcp_.py", "node", "{env}/" + SERVER), pair=("read_text_file", "edit_file"),
    ),
    Peer(
        "oh-my-pi hashline", OhMyPi, npm=("@oh-my-pi/hashline@18.1.5", "bun@1.4.5"),
        command=("{env}/" + f"{NODE}/.bin/bun", "{env}/ohmypi.ts", "{root}"), one_text=True,
    ),
    Peer(
        "codex apply_patch", Patch, npm=("@openai/codex@0.169.0",),
        command=here("codex_.py", "{env}/" + CODEX), one_text=True,
    ),
)  # fmt: skip
EVERY: tuple[Own | Peer, ...] = (*OURS, *PEERS)
