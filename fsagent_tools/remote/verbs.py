"""The verbs of a workspace that is elsewhere, for programs."""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from fsagent_tools import errors, replies
from fsagent_tools.call import current
from fsagent_tools.effects import ASKED, Effect
from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools.files.port import Done
from fsagent_tools.remote.channel import Channel, Question, RemoteReply, Sending
from fsagent_tools.results import ERROR
from fsagent_tools.workspace import Workspace

VERB = "workspace."  # before the name of a verb, in that of a sending
BYTES = "io.github.fsagent-tools/bytes"  # the only key of what stands for bytes
RESULTS: dict[str, tuple[Effect, Any]] = {
    "root": (Effect.READ, Path),
    "list": (Effect.READ, tuple[replies.DirectoryEntry, ...]),
    "find": (Effect.READ, replies.FoundPaths),
    "search": (Effect.READ, replies.SearchHits),
    "read_text": (Effect.READ, replies.FileText),
    "read_bytes": (Effect.READ, replies.FileBytes),
    "write_bytes": (Effect.WRITE, replies.FileWritten),
    "edit_text": (Effect.WRITE, replies.TextEdited),
    "remove": (Effect.DELETE, Done),
    "run": (Effect.EXECUTE, replies.Completed),
}


class RemoteWorkspace:
    """What `RESULTS` names of a `Workspace`, at the end of a channel that opens its verbs.

    Each call is one of the channel, and raises what it raises, and the verb's own `ToolError`.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @cached_property
    def root(self) -> Path:
        """Of the files, there."""
        root: Path = self._call("root")
        return root

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb not in RESULTS:
            raise AttributeError(f"A workspace elsewhere has no {verb}.")
        return partial(self._call, verb)

    def _call(self, verb: str, *given: Any, **more: Any) -> Any:
        words = {"given": _dumped([given, more])}
        sent = Sending(VERB + verb, words, cancelled=current.get().cancelled)
        reply = self._channel.call(sent)
        if isinstance(reply, Question) or not reply.ok:
            raise _refusal(reply)
        try:
            (found,) = _results(verb).validate_python(_loaded(reply.told["result"]))
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigInvalid(f"{self._channel} has no verbs: {error}.") from error
        return found


def answered(workspace: Workspace, sending: Sending) -> RemoteReply:
    """What the verb of `sending` gives."""
    verb = sending.name.removeprefix(VERB)
    if verb not in RESULTS:
        raise ConfigInvalid(f"There is no verb {verb}.")
    found, (given, more) = getattr(workspace, verb), _loaded(sending.arguments["given"])
    try:
        result = found(*given, **more) if callable(found) else found
    except ToolError as error:
        return RemoteReply(f"{ERROR}{error}", error.code, {})
    return RemoteReply("", "OK", {"result": _dumped(_results(verb).dump_python((result,)))})


def repeatable(sending: Sending, effects: Mapping[str, Effect]) -> bool:
    """Whether a call may be carried out twice: it changes nothing, or would be asked about first.

    effects: those of the tools.
    """
    verb = sending.name.removeprefix(VERB)
    effect = effects.get(verb) if verb == sending.name else RESULTS.get(verb, (None,))[0]
    return effect is Effect.READ or (sending.ask and effect in ASKED)


@cache
def _results(verb: str) -> TypeAdapter[Any]:
    """Of a tuple, which any result can be in."""
    alone: Any = tuple.__class_getitem__(RESULTS[verb][1])
    return TypeAdapter(alone)


def _dumped(value: Any) -> str:
    """ASCII, in which bytes and the names of all files pass. Raises `ConfigInvalid`."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return {BYTES: b64encode(value).decode()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ConfigInvalid(f"{value!r} cannot be sent to a workspace elsewhere.")


def _loaded(text: str) -> Any:
    """Raises `ValueError`."""
    return json.loads(text, object_hook=lambda v: b64decode(v[BYTES]) if {*v} == {BYTES} else v)


def _refusal(reply: RemoteReply | Question) -> ToolError:
    """Of the class that the code names."""
    if isinstance(reply, Question):
        return ConfigInvalid("A verb asks nobody.")
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, ToolError)]
    kind = next((k for k in kinds if k.code == reply.code), ToolError)
    return kind(reply.text.removeprefix(ERROR))
