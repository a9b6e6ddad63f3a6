"""The tools at the other end of a channel, as a toolset."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from fsagent_tools.answers.action import Action
from fsagent_tools.call import PendingChange, current
from fsagent_tools.effects import PERMISSIONS, RISK
from fsagent_tools.errors import ApprovalDenied, ConfigInvalid, ToolError
from fsagent_tools.memory.files import MemoryFiles
from fsagent_tools.params.arguments import Params
from fsagent_tools.params.knob import REQUIRED, Field
from fsagent_tools.remote.channel import Channel, Described, Question, RemoteReply, Sending
from fsagent_tools.results import ERROR, Block, Shape
from fsagent_tools.runtime.plugins import plugin
from fsagent_tools.runtime.recent import Recent
from fsagent_tools.tools.entries import Entry
from fsagent_tools.tools.toolset import Tool, Toolset
from fsagent_tools.workspace import Workspace

_PLACES = 10_000  # of which something is known here, 5 kB each; a place has its own records, too


def remote_toolset(channel: Channel) -> Toolset:
    """The tools at the other end, as a toolset to bind to a workspace without files.

    That workspace's `approve` and `log` work as ever; its policy knows effects, not paths. Raises
    what the channel raises.
    """
    return Toolset("remote", tuple(_entry(channel, tool) for tool in channel.tools()))


def served_at(where: Channel | str, token: str | None) -> tuple[Workspace, Toolset]:
    """The tools of a channel or of a server, and a workspace without files to bind them to."""
    channel = _over_http(where, token) if isinstance(where, str) else where
    return Workspace(files=_NoFiles()), remote_toolset(channel)


class _NoFiles(MemoryFiles):
    def __reduce__(self) -> tuple[Any, ...]:
        return _NoFiles, ()


class Elsewhere:
    """A toolset wherever a run has it: by channel or URL, with the schemas that it has here.

    Nothing is asked there but calls. What is known here of one place is of that one alone: what was
    approved and has begun, and what came from outside. own: a tool's name here -> there.
    """

    def __init__(self, own: Mapping[str, str], token: str | None) -> None:
        self._own, self._token = own, token
        self._told: dict[str, tuple[Described, Entry]] = {}
        self._anywhere, self._places = Workspace(files=_NoFiles()), Recent(_PLACES)

    def __reduce__(self) -> tuple[Any, ...]:
        return Elsewhere, (self._own, self._token)

    def __call__(self, tool: Tool, where: object) -> Tool:
        """Raises `ConfigInvalid` for what is no place."""
        place = where
        if isinstance(where, str):
            where = _over_http(where, self._token)
        if not isinstance(where, Channel):
            raise ConfigInvalid(f"{where!r} is no workspace, path, URL or Channel.")
        if tool.name not in self._told:
            schema, shape = replace(tool, strict=False).schema, tool.entry.result
            own = self._own[tool.name]
            told = Described(own, tool.description, schema, tool.effect, shape)
            self._told[tool.name] = told, replace(_entry(where, told), name=tool.name)
        told, entry = self._told[tool.name]
        there = replace(entry.action, run=partial(_run, where, told))
        here = self._workspace_for(place)
        return replace(tool, entry=replace(entry, of=there), workspace=here, pool=None)

    def _workspace_for(self, place: Any) -> Workspace:
        try:
            _, key = hash(place), place
        except TypeError:
            key = id(place)  # of no other one as long as it is kept
        _, workspace = self._places.find(key) or (place, Workspace(files=_NoFiles()))
        self._places.keep(key, (place, workspace))
        workspace.session.id = self._anywhere.session.id  # it is one, as far as places know it
        return workspace


def _over_http(url: str, token: str | None) -> Channel:
    made: Channel = plugin("channels", "http", extra="mcp")(url, token)
    return made


@dataclass(frozen=True)
class _AsTold(Shape):
    """The envelope that the server made, or would have made."""

    def of(self, text: str, data: Mapping[str, Any]) -> dict[str, Any]:
        return dict(data["told"])

    def word(self, error: ToolError) -> str:
        return error.code if "told" in error.details else super().word(error)

    def of_error(self, text: str, code: str, details: Mapping[str, Any]) -> dict[str, Any]:
        return dict(details.get("told") or super().of_error(text, code, details))


@dataclass(frozen=True)
class _Told:
    """What a call gave."""

    told: Mapping[str, Any]
    blocks: tuple[Block, ...]
    _text: str

    def render(self) -> str:
        return self._text


class _There(Action[Params]):
    """A pickle has the channel, and what it told."""

    def __reduce__(self) -> tuple[Any, ...]:
        channel, tool = self.run.args  # type: ignore[attr-defined]
        return _action, (channel, tool)


def _entry(channel: Channel, tool: Described) -> Entry:
    required, shown = tool.schema.get("required", ()), tool.schema.get("properties", {})
    return Entry(
        _action(channel, tool),
        show=tuple(n for n in shown if n not in required),
        result=_AsTold(**vars(tool.shape)),
    )


def _action(channel: Channel, tool: Described) -> Action[Params]:
    required, shown = tool.schema.get("required", ()), tool.schema.get("properties", {})
    fields: dict[str, Any] = {
        name: _field(schema, REQUIRED if name in required else None)
        for name, schema in shown.items()
    }
    fields["__annotations__"] = dict.fromkeys(shown, Any)
    return _There(
        tool.name,
        tool.description,
        tool.effect,
        type(tool.name, (Params,), fields),
        partial(_run, channel, tool),
        PERMISSIONS[tool.effect],
        RISK[tool.effect],
        waits=True,
    )


def _field(schema: Mapping[str, Any], default: Any) -> Any:
    rest = {key: value for key, value in schema.items() if key != "description"}
    return Field(default, description=schema.get("description", ""), json_schema_extra=rest)


def _run(channel: Channel, tool: Described, workspace: Workspace, params: Params) -> _Told:
    call = current.get()
    arguments = params.as_json(given=True)
    send = partial(
        Sending,
        tool.name,
        arguments,
        session=call.ids.get("session") or workspace.session.id,
        call=quote(call.ids.get("call") or tool.name),
        scope=call.ids.get("scope", "") if call.begin else "",
        emit=call.say if call.emit else None,
        cancelled=call.cancelled,
    )
    found = channel.call(send(ask=bool(call.approve or workspace.approve)))
    if isinstance(found, Question):
        if call.watch:
            call.watch(PendingChange("write", found.paths, state=found.state, told=found.diff))
        found = channel.call(send(answer=found.state))
    if isinstance(found, Question):
        raise ApprovalDenied("What was approved has changed since. Call again.")
    if not found.ok:
        raise _refusal(found)
    return _Told(found.told, found.blocks, found.text)


def _refusal(reply: RemoteReply) -> ToolError:
    kind = type("RemoteRefusal", (ToolError,), {"code": reply.code})
    refusal: ToolError = kind(reply.text.removeprefix(ERROR), details={"told": reply.told})
    return refusal
