"""What goes to a place and comes back: JSON, in which a long answer comes in pieces."""

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from fsagent_tools import Policy, Toolset
from fsagent_tools.errors import TooLarge
from fsagent_tools.remote import (
    LARGEST_MESSAGE,
    Described,
    Question,
    RemoteReply,
    Sending,
    check_weight,
    sliced,
    unsliced,
)

Reply = RemoteReply | Question | list[Described]
NAME = re.compile(r"[\w-]{1,64}", re.ASCII)
ENVELOPE = 1000  # characters of a request or answer around what is packed
MOST = LARGEST_MESSAGE * 2  # characters of a packed answer
IDLE = 3600.0  # seconds without a call after which a far end goes, unless the host says otherwise


@dataclass(frozen=True)
class Settings:
    """What a far end serves; pickled, for it has the host's own version of this package.

    keep: whether it has to last. idle: seconds without a call after which it ends.
    """

    toolset: Toolset | str
    policy: Policy | None
    keep: bool
    idle: float


@dataclass(frozen=True)
class Asked:
    """A request. key: names the call, which is carried out once. root: the directory it is for.

    boot: only this process may begin it, any where it is "". wait: seconds until there is an
    answer in any case; gather: until there is one with live output. start, most: which characters
    of the packed reply. heard: characters of live output that came before.
    """

    key: str
    task: Literal["tools", "call", "wait", "cancel"]
    sent: str = ""
    root: str = ""
    boot: str = ""
    wait: float = 0.0
    gather: float = 0.0
    start: int = 0
    most: int = 0
    heard: int = 0


@dataclass(frozen=True)
class Told:
    """An answer. total: characters of the packed reply; piece: some of them, or why not. heard:
    characters of live output so far, of which `live` are the last.

    state: "unknown" is a call that this process has not begun, and another one may have; "ending",
    one that is not begun, nor will be; "refused", that the settings or the request are wrong.
    """

    state: Literal["done", "running", "unknown", "ending", "refused"]
    boot: str = ""
    live: str = ""
    total: int = 0
    piece: str = ""
    heard: int = 0


@cache
def _of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def as_json(value: Asked | Told) -> str:
    """On one line, in ASCII."""
    return json.dumps(vars(value))


def read_as(kind: Any, text: str | bytes) -> Any:
    """Raises `ValueError`."""
    check_weight(text.encode() if isinstance(text, str) else text)
    return _of(kind).validate_json(text)


def packed(data: bytes) -> str:
    """Raises `TooLarge` for what the other side would not read."""
    text = base64.b64encode(zlib.compress(data)).decode()
    if (size := max(len(data), len(text) + ENVELOPE)) > LARGEST_MESSAGE:
        raise TooLarge(f"{size:,} bytes are too many to pass at once: {LARGEST_MESSAGE:,} may.")
    return text


def unpacked(text: str) -> bytes:
    """Raises `ValueError`."""
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b64decode(text, validate=True), LARGEST_MESSAGE + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unzip.eof:
        raise ValueError("it is too large, or cut off")
    return data


def packed_sending(sending: Sending) -> str:
    """Raises `TooLarge`."""
    asked = sending.ask, sending.answer, sending.session, sending.call, sending.scope
    data = json.dumps([sending.name, dict(sending.arguments), *asked]).encode()
    try:
        return packed(data)
    except TooLarge as error:
        raise TooLarge(f"{error} Nothing was done.", hint="Send it in parts.") from None


def unpacked_sending(text: str) -> Sending:
    return Sending(*json.loads(unpacked(text)))


def packed_reply(reply: RemoteReply | Question | Sequence[Described]) -> str:
    if isinstance(reply, RemoteReply):
        reply = replace(reply, told=sliced(reply.told, reply.text))
    return packed(_of(Reply).dump_json(reply))


def unpacked_reply(text: str) -> Reply:
    """Raises `ValueError`."""
    reply: Reply = read_as(Reply, unpacked(text))
    if isinstance(reply, RemoteReply):
        return replace(reply, told=unsliced(reply.told, reply.text))
    for tool in reply if isinstance(reply, list) else ():
        names = tool.schema.get("properties", {})
        if not NAME.fullmatch(tool.name) or not all(map(str.isidentifier, names)):
            raise ValueError("a tool has no proper name")
    return reply
