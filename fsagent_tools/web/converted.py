"""Pages as text. Runs in a process of its own, as the readers of documents do."""

import json
from contextlib import suppress
from typing import Any

from fsagent_tools.errors import TooLarge
from fsagent_tools.web import html
from fsagent_tools.web.article import LEAST_PROSE
from fsagent_tools.web.clean import one_line, visible
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.feed import feed
from fsagent_tools.web.scripted import article_in

MAX_HTML = 5 * 2**20  # bytes of HTML that are parsed
EMPTY = "(the page has no text without JavaScript; format='html' shows its source)"
_TITLE = 200  # characters


def html_page(data: bytes, url: str, wanted: str, seconds: float) -> dict[str, Any]:
    """The fields of a `Page`. Raises `TooLarge`."""
    source = data.decode()
    if len(data) > MAX_HTML:
        raise TooLarge(
            f"The HTML is {len(data):,} bytes; up to {MAX_HTML:,} are converted.",
            hint="Fetch it with `format`='html' and read it in pieces.",
        )
    clock, plain = Clock(seconds, "converting"), wanted == "text"
    found = html.content(source, url, clock, plain=plain)
    text = found.text
    if not visible(text) and (inner := article_in(found.data)):
        text = html.content(inner, url, clock, plain=plain).text
    elif not visible(text):
        text = html.content(source, url, clock, plain=plain, scriptless=True).text
        text = text if len(text) >= LEAST_PROSE else ""
    return {
        "text": visible(text) or EMPTY,
        "title": one_line(found.title, _TITLE),
        "site": found.site,
        "refresh": found.refresh,
    }


def data_page(data: bytes, kind: str, seconds: float) -> dict[str, Any]:
    """JSON indented, a feed as a list; other XML as it is."""
    source, title = data.decode(), ""
    if kind.endswith("json"):
        with suppress(ValueError, RecursionError):
            source = json.dumps(json.loads(source), indent=2, ensure_ascii=False)
    else:
        title, source = feed(source, Clock(seconds, "converting")) or ("", source)
    return {"text": visible(source), "title": one_line(title, _TITLE)}


_FUNCTIONS = {"html": html_page, "data": data_page}  # see `apart`
