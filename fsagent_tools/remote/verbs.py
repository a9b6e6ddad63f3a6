"""The verbs of a workspace that is elsewhere, for programs."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from fsagent_tools import errors, replies
from fsagent_tools.call import current
from fsagent_tools.errors import ConfigInvalid, ToolError
from fsagent_tools.remote.channel import Channel, Question, RemoteReply, Sending
from fsagent_tools.results import ERROR
from fsagent_tools.workspace import Workspace

VERB = "workspace."  # before the name of a verb, in that of a sending
RESULTS: dict[str, Any] = {
    "root": Path,
    "list": tuple[replies.DirectoryEntry, ...],
    "find": replies.FoundPaths,
    "search": replies.SearchHits,
    "read_text": replies.FileText,
    "read_bytes": replies.FileBytes,
    "write_bytes": replies.FileWritten,
    "edit_text": replies.TextEdited,
    "remove": replies.PathChange,
    "run": replies.Completed,
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
        words = [b64encode(v).decode() if isinstance(v, bytes) else v for v in given]
        sent = Sending(
            VERB + verb, {"given": words, "more": more}, cancelled=current.get().cancelled
        )
        reply = self._channel.call(sent)
        if isinstance(reply, Question) or not reply.ok:
            raise _refusal(reply)
        try:
            (found,) = _results(verb).validate_python(reply.told["result"])
        except (ValueError, KeyError) as error:
            raise ConfigInvalid(f"{self._channel} has no verbs: {error}.") from error
        return found


def answered(workspace: Workspace, sending: Sending) -> RemoteReply:
    """What the verb of `sending` gives."""
    verb = sending.name.removeprefix(VERB)
    if verb not in RESULTS:
        raise ConfigInvalid(f"There is no verb {verb}.")
    given, found = [*sending.arguments["given"]], getattr(workspace, verb)
    if verb == "write_bytes":
        given[1] = b64decode(given[1])
    try:
        result = found(*given, **sending.arguments["more"]) if callable(found) else found
    except ToolError as error:
        return RemoteReply(f"{ERROR}{error}", error.code, {})
    return RemoteReply("", "OK", {"result": _results(verb).dump_python((result,), mode="json")})


@cache
def _results(verb: str) -> TypeAdapter[Any]:
    """Of a tuple, since a dataclass takes no configuration."""
    config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    alone: Any = tuple.__class_getitem__(RESULTS[verb])
    return TypeAdapter(alone, config=config)


def _refusal(reply: RemoteReply | Question) -> ToolError:
    """Of the class that the code names."""
    if isinstance(reply, Question):
        return ConfigInvalid("A verb asks nobody.")
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, ToolError)]
    kind = next((k for k in kinds if k.code == reply.code), ToolError)
    return kind(reply.text.removeprefix(ERROR))
