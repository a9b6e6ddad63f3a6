"""Asks the configured search service, page after page."""

import html
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from fsagent_tools.errors import (
    ConfigInvalid,
    HttpFailed,
    NetworkError,
    NotConfigured,
    ToolError,
    Unauthorized,
    UnsafeUrl,
)
from fsagent_tools.policy.addresses import Guard
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.sanitize import one_line, visible
from fsagent_tools.text import shorten
from fsagent_tools.web.client import Download, WebClient, failure
from fsagent_tools.web.pages import decode_page
from fsagent_tools.web.providers import PROVIDERS, Provider
from fsagent_tools.web.urls import parse_url

PROVIDER = "FSAGENT_SEARCH_PROVIDER"
BASE_URL = "FSAGENT_SEARCH_BASE_URL"
API_KEY = "FSAGENT_SEARCH_API_KEY"
KEY_VARIABLES = {  # a key alone chooses its provider; the first one that is set wins
    name: f"{name.upper()}_API_KEY" for name in ("exa", "tavily", "brave", "serper")
}
MAX_PAGES = 5  # of results that are asked for
MAX_ANSWERS = 5  # of a service's own, and of engines that failed
SNIPPET, TITLE = 500, 200  # characters
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
LARGEST_MESSAGE = 16 << 20  # bytes of one message; a command's output has 10 MB at most
_WIDE = 4 << 20  # bytes of one with characters outside ASCII, which may take four times as much
_MANY = 200_000  # values of one: an empty list takes 2 bytes on the way, and 56 here
# one that does not end goes to the end of all: else each quote in it would be tried as a beginning
_STRING = re.compile(rb'(?s)"(?:[^"\\]|\\.)*+(?:"|\\?\Z)')
TRACKING = re.compile(r"(?:^|&)(?:utm_\w+|gclid|fbclid|msclkid)=[^&]*")
ANSWER_FIELDS = {  # where a service says something itself, and which of it is shown
    "answer": (),  # Tavily
    "answers": ("answer", "url"),  # SearXNG
    "answerBox": ("title", "answer", "snippet", "link"),  # Serper
    "knowledgeGraph": ("title", "type", "description"),
    "infoboxes": ("infobox", "content", "id"),  # SearXNG
    "infobox": ("title", "description", "long_desc", "url"),  # Brave, under `results`
}


@dataclass(frozen=True)
class SearchSettings:
    """Which service is asked. provider: its name; base_url: "" for its own; api_key: "" for none.

    Raises `ConfigInvalid` for a base_url that is not an http or https URL.
    """

    provider: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.base_url:
            try:
                parse_url(self.base_url, "base_url")
            except ToolError as error:
                raise ConfigInvalid(str(error)) from None

    @classmethod
    def from_environment(cls) -> "SearchSettings":
        """What FSAGENT_SEARCH_PROVIDER, _BASE_URL and _API_KEY say, else what a key implies.

        An address alone is that of a SearXNG. provider is "" where nothing is set.
        """
        named = os.environ.get(PROVIDER, "").strip().lower()
        implied = next((name for name, key in KEY_VARIABLES.items() if os.environ.get(key)), "")
        base = os.environ.get(BASE_URL, "").strip()
        if not named and (implied or not base):
            return cls.of(implied)
        settings = cls.of(named or "searxng")
        return replace(
            settings,
            base_url=base,
            api_key=os.environ.get(API_KEY, "").strip() or settings.api_key,
        )

    @classmethod
    def of(cls, provider: str) -> "SearchSettings":
        """A provider at its own address with its own key, so that no key reaches another's."""
        key = os.environ.get(key_variable(provider), "").strip() if provider else ""
        return cls(provider, api_key=key)


@dataclass(frozen=True)
class SearchResults:
    """answers: what the service says itself; failed: engines behind it that did not answer."""

    hits: list[dict[str, str]]
    answers: list[str]
    failed: list[str]


def search(text: str, count: int, settings: SearchSettings, client: WebClient) -> SearchResults:
    """At most `count` hits (title, url, snippet, published), from as many pages as that takes.

    A later page that fails ends the list.

    Raises:
        NotConfigured, ConfigInvalid: like `provider_of`.
        Unauthorized, RateLimited, NetworkError: as the service answers.
    """
    provider, base = provider_of(settings)
    hits, first = dict[str, dict[str, str]](), None
    for page in range(1, MAX_PAGES + 1):
        before = len(hits)
        try:
            answer, rows = _ask(provider, base, (text, count, page), settings, client)
        except ToolError:
            if page == 1:
                raise
            break
        first = answer if page == 1 else first
        for hit in rows:
            hits.setdefault(normal_url(hit["url"]), hit)
        if not before < len(hits) < count or not 0 < provider.page_size <= len(rows):
            break
    said = first if isinstance(first, Mapping) else {}
    engines = said.get("unresponsive_engines") or ()
    lost = [": ".join(map(str, row)) if isinstance(row, list) else str(row) for row in engines]
    own = [shorten(visible(text), SNIPPET) for text in _answers(said)]
    failed = [one_line(text, 80) for text in lost[:MAX_ANSWERS]]
    return SearchResults(list(hits.values())[:count], own, failed)


def provider_of(settings: SearchSettings) -> tuple[Provider, str]:
    """The provider and its address. Raises `NotConfigured`, `ConfigInvalid`."""
    if not settings.provider:
        raise NotConfigured(
            "No search service is configured.",
            hint=f"Ask the user to set one of {', '.join(KEY_VARIABLES.values())}, or "
            f"{PROVIDER}=searxng and {BASE_URL}.",
        )
    if settings.provider not in PROVIDERS:
        raise ConfigInvalid(
            f"There is no search provider {settings.provider!r}.",
            hint=f"Use one of {', '.join(PROVIDERS)}.",
        )
    provider = PROVIDERS[settings.provider]
    if provider.needs_key and not settings.api_key:
        raise NotConfigured(
            f"The search provider {settings.provider} has no key.",
            hint=f"Ask the user to set {key_variable(settings.provider)}.",
        )
    if not (base := settings.base_url or provider.base_url):
        raise NotConfigured(
            f"The search provider {settings.provider} has no address.",
            hint=f"Ask the user to set {BASE_URL}, such as http://localhost:8080.",
        )
    return provider, base


def key_variable(provider: str) -> str:
    return f"{provider.upper()}_API_KEY"


def normal_url(url: str) -> str:
    """The form in which two URLs of one page are equal."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}{parts.path.rstrip('/')}?{TRACKING.sub('', parts.query).strip('&')}"


def _ask(
    provider: Provider,
    base: str,
    asked: tuple[str, int, int],
    settings: SearchSettings,
    client: WebClient,
) -> tuple[Any, list[dict[str, str]]]:
    """What one request was answered, and the hits in it."""
    fields, headers = provider.fields(*asked), {"Accept": "application/json"}
    url, body = parse_url(base.rstrip("/") + provider.path, "base_url"), None
    if provider.method == "GET":
        url = replace(url, target=f"{url.target}?{urlencode(fields)}")
    elif provider.form:
        body = urlencode(fields).encode()
        headers = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
    else:
        body, headers["Content-Type"] = json.dumps(fields).encode(), "application/json"
    if settings.api_key:
        name, prefix = provider.key_header
        headers[name] = prefix + settings.api_key
    if base != provider.base_url:
        client = _trusting(client, url.host, url.port)
    try:
        answer = client.send(url, headers, provider.method, body)
    except NetworkError as error:
        raise NetworkError(
            f"{settings.provider} was not reached: {error.message}",
            hint="Try again later. If it stays, ask the user whether this machine reaches "
            f"{url.host}, or needs a proxy.",
        ) from None
    if answer.status not in (200, 202):
        raise _failure(answer, settings)
    try:
        check_weight(answer.body)
        text = decode_page(answer.body, answer.headers.get("content-type", ""))
        parsed = (provider.parse or json.loads)(text)
        rows = [_hit(row, provider) for row in provider.rows(parsed)]
        return parsed, [hit for hit in rows if hit["url"].startswith(("http://", "https://"))]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise NetworkError(
            f"{settings.provider} at {url.host} answered in an unknown form.",
            hint="Try again; if it stays, the base URL may not be a search service.",
        ) from None


def check_weight(content: bytes | bytearray) -> None:
    """Raise `ValueError` for what would take much more memory as objects than it has bytes."""
    wide = len(content) > _WIDE and not (content.isascii() and b"\\u" not in content)
    if wide or len(content) > LARGEST_MESSAGE:
        raise ValueError(f"it is larger than {(_WIDE if wide else LARGEST_MESSAGE) >> 20} MB")
    if _values(content) > _MANY and _values(_STRING.sub(b"", content)) > _MANY:
        raise ValueError(f"it has more than {_MANY:,} values")


def _values(content: bytes | bytearray) -> int:
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _trusting(client: WebClient, host: str, port: int) -> WebClient:
    """The host chose this address, so it may be local; the model cannot change it."""
    if client.proxy:
        with suppress(UnsafeUrl):
            client.check(parse_url(f"http://{host}:{port}"))
            return client  # it is not local, so the proxy finds it
    own = HostRule(host.rstrip("."), port)
    return replace(client, guard=Guard((*client.guard.allow, own), client.guard.deny))


def _hit(row: Mapping[str, Any], provider: Provider) -> dict[str, str]:
    url, date = visible(row[provider.url].strip()), str(row.get(provider.date) or "")
    date = _plain(date[:10] if date[4:5] == "-" else date, 40)
    hit = {
        "title": _plain(row.get("title") or url, TITLE),
        "url": url,
        "snippet": _plain(row.get(provider.snippet) or "", SNIPPET),
    }
    return {**hit, "published": date} if date else hit


def _plain(text: str, limit: int) -> str:
    return shorten(visible(html.unescape(TAG.sub("", text))), limit)


def _answers(reply: Mapping[str, Any]) -> list[str]:
    """Answers, infoboxes and the like, each in a line."""
    found: dict[str, None] = {}
    for place, names in ANSWER_FIELDS.items():
        rows = reply.get(place)
        if isinstance(rows, Mapping):
            rows = rows.get("results", [rows])
        for row in rows if isinstance(rows, list) else [rows]:
            parts = [row.get(name) for name in names] if isinstance(row, Mapping) else [row]
            found[" - ".join(part for part in parts if part and isinstance(part, str))] = None
    return [text for text in found if text][:MAX_ANSWERS]


def _failure(answer: Download, settings: SearchSettings) -> ToolError:
    details = {"status": answer.status}
    message = f"{settings.provider} answered with status {answer.status}"
    if answer.status == 403 and settings.provider == "searxng":
        hint = "Ask the user to add json to search.formats in SearXNG's settings.yml."
        return HttpFailed(f"{message}: its JSON format is off.", hint=hint, details=details)
    if answer.status in (401, 403):
        hint = f"Ask the user to check {key_variable(settings.provider)}."
        return Unauthorized(f"{message}: the key is not valid.", hint=hint, details=details)
    if answer.status == 429 or answer.status >= 500:
        return failure(replace(answer, url=replace(answer.url, target="/")))
    reason = one_line(answer.body[:400].decode("utf-8", "replace"), 200)
    return HttpFailed(f"{message}: {reason or 'no reason given'}.", details=details)
