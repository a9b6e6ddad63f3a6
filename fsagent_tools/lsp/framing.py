"""Language Server Protocol messages as bytes: a Content-Length header and a JSON body."""

import json
from typing import Any, BinaryIO

MAX_HEADER = 4096  # bytes of one header line
MAX_BODY = 64 << 20  # bytes; no real answer comes near it

JsonMessage = dict[str, Any]


class Nonsense(Exception):
    """The peer sent something that is not a message."""


def encode(message: JsonMessage) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def read_message(stream: BinaryIO) -> JsonMessage | None:
    """The next message of `stream`, None at its end. Raises `Nonsense`."""
    length = _length(stream)
    if length is None:
        return None
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise Nonsense(f"a body that is not JSON: {body[:60]!r}") from None
    if not isinstance(message, dict):
        raise Nonsense(f"a body that is not an object: {body[:60]!r}")
    return message


def _length(stream: BinaryIO) -> int | None:
    length = None
    while line := stream.readline(MAX_HEADER):
        if line in (b"\r\n", b"\n") and length is not None:
            return length
        name, colon, value = line.partition(b":")
        if not colon or not line.endswith(b"\n"):
            raise Nonsense(f"a header line {line[:60]!r}")
        if name.strip().lower() == b"content-length":
            length = _parsed(value.strip())
    return None


def _parsed(value: bytes) -> int:
    if not value.isdigit() or len(value) > 12 or int(value) > MAX_BODY:
        raise Nonsense(f"the content length {value[:60]!r}")
    return int(value)
