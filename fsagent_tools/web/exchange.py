"""One HTTP request and its reply over a guarded wire, by httpx's engine or the standard library."""

import importlib.util
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.web.by_httpx import send_by_httpx
from fsagent_tools.web.by_stdlib import send_by_stdlib
from fsagent_tools.web.request import Dial, HttpRequest, Reply

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token (RFC 9110, 5.6.2)
VALUE = re.compile(r"[\t\x20-\x7e]*")  # ASCII: what the engines do with more differs
OWN = {"host", "connection", "content-length", "transfer-encoding"}


@contextmanager
def exchange(request: HttpRequest, dial: Dial) -> Iterator[Reply]:
    """Send `request` over `dial` and give the reply; the connection closes with the context.

    Nothing is followed, remembered or read from the environment: no redirects, cookies, proxies.
    Raises `NetworkError` for what is not HTTP, `InvalidArguments` for a header that HTTP does not
    allow, and the errors of `dial`.
    """
    _check(request.headers)
    send = send_by_httpx if importlib.util.find_spec("httpx") else send_by_stdlib
    with send(request, dial) as reply:
        yield reply


def _check(headers: Mapping[str, str]) -> None:
    """A value may be a secret, so it is not repeated."""
    for name, value in headers.items():
        shown = repr(name[:40])
        if not _NAME.fullmatch(name):
            raise InvalidArguments(f"`headers`: {shown} is not a header's name.")
        if name.lower() in OWN:
            raise InvalidArguments(
                f"`headers`: {shown} is set by the request itself; leave it out."
            )
        if not VALUE.fullmatch(value):
            raise InvalidArguments(
                f"`headers`: the value of {shown} has a line end, control or non-ASCII character.",
                hint="Use printable ASCII only.",
            )
