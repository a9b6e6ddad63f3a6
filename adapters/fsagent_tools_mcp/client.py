"""A channel to a server of this package: calls over streamable HTTP, from any thread."""

from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from fsagent_tools import Effect, ToolError
from fsagent_tools.errors import Cancelled, ConfigInvalid, NetworkError
from fsagent_tools.remote import (
    CancelFlag,
    Described,
    Question,
    RemoteReply,
    Sending,
    lost,
    unreachable,
    unsliced,
)
from fsagent_tools.types import Block, Shape
from fsagent_tools_mcp.meta import (
    ANSWER,
    ASK,
    CALL,
    CODE,
    EFFECT,
    REQUEST,
    SCOPE,
    SESSION,
    SHAPE,
    WHOLE,
    check_token,
)
from fsagent_tools_mcp.posting import Notified, Poster, Refused, Unsent
from fsagent_tools_mcp.wire import Asked, InputRequired, Part, Result, ShapeTold, Tools, ToolTold

TOLD = 300  # characters of what a server says about an error
LISTING = 30.0  # seconds that a server may take to tell its tools
PRINTED = "The URL is the one that `fsagent serve` prints."
REFUSED = {  # status -> what it means, what to do
    **dict.fromkeys((301, 302, 307, 308), ("has moved", "Pass its new URL.")),
    401: ("refuses the token", "Pass as token= what FSAGENT_SERVE_TOKEN is set to on the server."),
    404: ("is not there", PRINTED),
    405: ("is not there", PRINTED),
    413: ("takes no call as large as this", "Send less at once."),
    421: (
        "does not know itself by this name",
        "The URL has the name after `serve --http`; `--http 0.0.0.0:PORT` takes any.",
    ),
}


class HttpChannel:
    """For `remote_toolset`. url: of the server, with or without `/mcp`; token: its bearer token.

    Connects when it is needed, so the server may go away and come back. Raises `ConfigInvalid`.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = _whole(url)
        self._where = f"The tool server at {self._url}"
        check_token(token or "")
        self._poster = Poster(self._url, {"authorization": f"Bearer {token}"} if token else {})

    def tools(self) -> Sequence[Described]:
        """Raises `NetworkError`, `ConfigInvalid`."""
        try:
            listed = self._poster.post("tools/list", {}, CancelFlag(), _unheard, LISTING)
            return [_described(tool) for tool in Tools.model_validate(listed).tools]
        except Refused as refused:
            raise _refusal(self._where, refused, to_host=True) from refused
        except (Unsent, OSError, HTTPException, ValueError) as error:
            raise unreachable(self._where, _told(error)) from error

    def call(self, sending: Sending) -> RemoteReply | Question:
        """Raises `NetworkError`, `OutcomeUnknown`, `Cancelled`."""
        try:
            found = self._poster.post(
                "tools/call", _params(sending), sending.cancelled, _progress(sending.emit)
            )
            if found.get("resultType") == "input_required":
                return _question(InputRequired.model_validate(found))
            return _reply(Result.model_validate(found))
        except Unsent as error:
            if sending.cancelled.is_set():
                raise Cancelled("The call was cancelled before it was sent.") from None
            raise unreachable(self._where, _told(error)) from error
        except Refused as refused:
            if refused.status < 500:
                raise _refusal(self._where, refused) from refused
            raise self._lost(sending, refused) from refused
        except (OSError, HTTPException, ValueError) as error:
            if sending.cancelled.is_set():
                raise Cancelled("The call was cancelled; the server was told so.") from None
            raise self._lost(sending, error) from error

    def _lost(self, sending: Sending, error: Exception) -> ToolError:
        return (unreachable if sending.ask else lost)(self._where, _told(error))


def _whole(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # such as a port that is no number
        known = False
    if not known:
        raise ConfigInvalid(
            f"{url!r} is not the URL of a tool server.",
            hint="It is what `fsagent serve --http` prints, such as http://127.0.0.1:8000.",
        )
    path = parts.path.rstrip("/")
    path = path if path.endswith("/mcp") else f"{path}/mcp"
    return urlunsplit(parts._replace(path=path, fragment=""))


def _refusal(where: str, refused: Refused, *, to_host: bool = False) -> ToolError:
    known = refused.status in REFUSED
    said, hint = REFUSED.get(refused.status, ("refused this", "Nothing was done."))
    kind = ConfigInvalid if to_host and known else NetworkError
    return kind(f"{where} {said} ({_told(refused)}).", hint=hint)


def _told(error: Exception) -> str:
    name = "" if isinstance(error, Unsent | Refused) else f"{type(error).__name__}: "
    return name + str(error).partition("\n")[0][:TOLD].rstrip(".")


def _params(sending: Sending) -> Mapping[str, Any]:
    asks = bool(sending.ask or sending.answer)  # an answer is compared with what would change now
    meta = {SESSION: sending.session, CALL: sending.call, ASK: asks, WHOLE: True}
    if sending.scope:
        meta[SCOPE] = sending.scope
    params: dict[str, Any] = {"name": sending.name, "arguments": dict(sending.arguments)}
    if sending.emit:
        meta["progressToken"] = sending.call
    if sending.answer:
        params["requestState"] = sending.answer
        params["inputResponses"] = {ANSWER: {"action": "accept", "content": {}}}
    return {**params, "_meta": meta}


def _unheard(notice: Mapping[str, Any]) -> None:
    pass


def _progress(emit: Callable[[str], None] | None) -> Notified:
    if emit is None:
        return _unheard
    return lambda notice: emit(str(notice.get("message") or ""))


def _described(tool: ToolTold) -> Described:
    reads = Effect.READ if tool.annotations.read_only_hint else Effect.EXECUTE
    effect = Effect(tool.meta[EFFECT]) if EFFECT in tool.meta else reads
    shape = Shape(**dict(ShapeTold.model_validate(tool.meta.get(SHAPE, {}))))
    return Described(tool.name, tool.description, tool.input_schema, effect, shape)


def _question(found: InputRequired) -> Question:
    asked = Asked.model_validate(found.meta.get(REQUEST, {}))
    return Question(found.request_state, asked.paths, asked.diff)


def _reply(found: Result) -> RemoteReply:
    text = next((part.text for part in found.content if part.type == "text"), "")
    blocks = [block for part in found.content if (block := _block(part))]
    told = unsliced(found.structured_content or {"success": not found.is_error}, text)
    code = str(found.meta.get(CODE) or ("ERROR" if found.is_error else "OK"))
    return RemoteReply(text, code, told, tuple(blocks))


def _block(part: Part) -> Block | None:
    if part.type == "image":
        return Block("image", part.mime_type, part.data)
    if part.type == "resource" and part.resource.blob:
        return Block("file", part.resource.mime_type, part.resource.blob)
    return None
