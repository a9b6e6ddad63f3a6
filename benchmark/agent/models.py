"""Models by name, and a scripted one that knows the answers, for tests."""

import difflib
import random
import socket
import sys
from collections.abc import Sequence
from errno import EHOSTUNREACH, ENETUNREACH
from functools import partial
from importlib import import_module
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.rate_limiters import InMemoryRateLimiter

from benchmark.agent.fetched import AnyTask
from benchmark.agent.source import Files
from benchmark.dialects.base import Dialect
from benchmark.dialects.ids import Ids
from benchmark.dialects.quotes import Patch, Quotes
from benchmark.hunks import Hunk
from benchmark.interpreters import BASE
from benchmark.slips import make
from fsagent_tools.testing import Call, Message, Turn
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM

PROVIDERS = {"openai": "OpenAI", "anthropic": "Anthropic"}  # of LlamaIndex
STDIO = "stdio"
EDITOR = "str_replace_based_edit_tool"
SPOKEN: dict[str, tuple[str, str, Dialect]] = {  # the tools that read and edit, and their dialect
    "lines": ("read", "edit_lines", Ids("words", words=True)),
    "openai": ("read", "apply_patch", Patch(parameter="input")),
    "anthropic": (EDITOR, EDITOR, Quotes("path", "old_str", "new_str")),
    "tag": ("read", "edit_lines", Ids("tag", words=True)),
    "short": ("read", "edit_lines", Ids("short", words=True)),
    "words": ("read", "edit_lines", Ids("words", words=True)),
    "compact": ("Read", "Edit", Quotes()),
    "file_ops": ("read_file", "edit_file", Quotes()),
    "filesystem": ("read", "edit", Quotes("path")),
    "deepagents": ("read_file", "edit_file", Quotes()),
}


class WrongKey(Exception):
    """The provider refuses the key, so another try is of no use; the text is what it said."""


class NoWay(Exception):
    """The provider cannot be reached at all; the text is what went wrong."""


def model(name: str, framework: str, rate: float | None, script: Sequence[Turn]) -> Any:
    """`scripted`, `stdio`, or `provider:model` of the framework; rate: requests a minute."""
    if name == STDIO or name.startswith("scripted"):
        return ScriptedLLM(script) if framework == "llamaindex" else ScriptedChatModel(script)
    if framework == "langchain":
        limit = InMemoryRateLimiter(requests_per_second=rate / 60) if rate else None
        return init_chat_model(name, rate_limiter=limit)
    provider, _, which = name.partition(":")
    if provider not in PROVIDERS:
        raise ValueError(f"With LlamaIndex a model is one of {', '.join(PROVIDERS)}, then a colon.")
    module = import_module(f"llama_index.llms.{provider}")
    return getattr(module, PROVIDERS[provider])(model=which)


def require(name: str, framework: str) -> None:
    """Make the model once. Raises `SystemExit` that says what it lacks: a package, or a key."""
    try:
        model(name, framework, None, ())
    except Exception as error:  # noqa: BLE001  # of any provider
        told = f"{name} cannot be used: {error}"
        if isinstance(error, ImportError):
            told += f"\nHere that is: {BASE} -m pip --python {sys.executable} install PACKAGE"
        raise SystemExit(told) from None


def refused(error: BaseException) -> bool:
    """Whether a provider refused the key: status 401 or 403, in whatever its client wraps it."""
    found: BaseException | None = error
    while found:
        for holder in (found, getattr(found, "response", None)):
            if {getattr(holder, "status_code", None), getattr(holder, "code", None)} & {401, 403}:
                return True
        if "API key not valid" in str(found):  # Google's, with status 400
            return True
        found = found.__cause__ or found.__context__
    return False


def unreachable(error: BaseException) -> str:
    """What the system said, where no connection came about; "" for any other error."""
    found: BaseException | None = error
    while found:
        if isinstance(found, ConnectionRefusedError | socket.gaierror) or (
            isinstance(found, OSError) and found.errno in (ENETUNREACH, EHOSTUNREACH)
        ):
            return str(found)
        found = found.__cause__ or found.__context__
    return ""


def script(name: str, task: AnyTask, files: Files, contender: str, run: int) -> list[Turn]:
    """Reads each file and makes its edits, the last first; `scripted:0.7` gives up on three tasks
    of ten.
    """
    share = float(name.partition(":")[2] or 1)
    if random.Random(f"{task.id} {contender} {run}").random() >= share:
        return ["I find nothing to do."]
    read, edit, dialect = SPOKEN[contender]
    slash = "/" * (contender == "deepagents")
    key = "path" if contender in ("filesystem", "anthropic") else "file_path"
    looks, does = ({"command": c} if read == EDITOR else {} for c in ("view", "str_replace"))
    turns = list[Turn]()
    for path, before, after in task.edits(files):
        shown = [""]

        def send(messages: Sequence[Message], hunk: Hunk, shown: list[str], *, first: bool) -> Call:
            if first:
                shown[0] = next(m.text for m in reversed(messages) if m.role == "tool")
            case = make(dialect.widen(hunk), "clean", quoting=dialect.quoting)
            arguments = case and dialect.call(case, f"{slash}{hunk.path}", shown[0])
            return Call(edit, (arguments or {}) | does)

        turns.append(Call(read, {key: f"{slash}{path}", **looks}))
        turns += [
            partial(send, hunk=hunk, shown=shown, first=not n)
            for n, hunk in enumerate(hunks(task.id, path, before, after))
        ]
    return [*turns, "Done."]


def hunks(name: str, path: str, before: str, after: str) -> list[Hunk]:
    """What turns one text into the other, from the end: each leaves the lines above as they are."""
    made, lines, new = list[Hunk](), before.split("\n"), after.split("\n")
    found = difflib.SequenceMatcher(None, lines, new, autojunk=False).get_opcodes()
    for kind, start, stop, low, high in reversed(found):
        if kind != "equal":
            each = tuple(new[low:high])
            made.append(Hunk(name, "", path, "\n".join(lines), start, stop, each).inside())
            lines[start:stop] = each
    return made
