"""What a search provider is: how to ask, how to read the answer."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from fsagent_tools.text import shorten
from fsagent_tools.web.clean import visible
from fsagent_tools.web.search.settings import SearchSettings

SNIPPET = 500  # characters
_TITLE = 200
TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
TRACKING = re.compile(r"(?:^|&)(?:utm_\w+|gclid|fbclid|msclkid)=[^&]*")


@dataclass(frozen=True)
class SearchRequest:
    """`num_results` is a wish."""

    text: str
    num_results: int = 10
    page: int = 1  # of results, for services that give them by the page


@dataclass(frozen=True)
class Hit:
    title: str
    url: str
    snippet: str = ""
    published: str = ""


@dataclass(frozen=True)
class ProviderRequest:
    """One request: `json` or `form` makes it a POST; `path` may carry a query string."""

    path: str
    headers: Mapping[str, str]
    json: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = None


class Provider(Protocol):
    """Pure: the transport, its guard and its errors are ours.

    Two attributes may be left out: `page_size`, the hits
    of a full answer when there are more pages, and `parse`, which reads an answer that is no JSON.
    """

    base_url: str  # "" when the settings must give one
    needs_key: bool

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest: ...

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        """Raises `LookupError`, `TypeError`, `ValueError` or `AttributeError` on a wrong shape."""
        ...


def tidy(hits: Sequence[Hit], query: SearchRequest) -> list[Hit]:
    """Without tags and duplicates, at most as many as were asked for."""
    kept: dict[str, Hit] = {}
    for hit in hits:
        url = visible(hit.url.strip())
        if url.startswith(("http://", "https://")):
            clean = Hit(
                _plain(hit.title, _TITLE),
                url,
                _plain(hit.snippet, SNIPPET),
                _plain(hit.published, 40),
            )
            kept.setdefault(normal(url), clean)
    return list(kept.values())[: query.num_results]


def normal(url: str) -> str:
    """The form in which two URLs of one page are equal."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    query = TRACKING.sub("", parts.query).strip("&")
    return f"{host}{parts.path.rstrip('/')}?{query}"


def _plain(text: str, limit: int) -> str:
    return shorten(visible(html.unescape(TAGS.sub("", text))), limit)
