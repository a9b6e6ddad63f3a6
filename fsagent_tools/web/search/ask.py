"""Ask the configured search service, and say what went wrong in words that name the setting."""

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import urlencode

from fsagent_tools.errors import (
    ConfigInvalid,
    HttpFailed,
    NetworkError,
    NotConfigured,
    ToolError,
    Unauthorized,
)
from fsagent_tools.hosts import HostRule
from fsagent_tools.text import shorten
from fsagent_tools.web.charset import decode_page
from fsagent_tools.web.clean import one_line, visible
from fsagent_tools.web.exchange import HttpRequest
from fsagent_tools.web.fetch import Download, Fetcher, failure
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.search.answers import answers, failed
from fsagent_tools.web.search.provider import (
    SNIPPET,
    Hit,
    Provider,
    ProviderRequest,
    SearchRequest,
    tidy,
)
from fsagent_tools.web.search.providers import BUILTIN
from fsagent_tools.web.search.settings import (
    BASE_URL,
    SearchSettings,
    key_variable,
)
from fsagent_tools.web.url import Url, parse_url

GROUP = "fsagent_tools.search_providers"


_PAGES = 5  # of results that are asked for at most


@dataclass(frozen=True)
class SearchAnswer:
    """answers: what the service says itself; failed: engines behind it that did not answer."""

    hits: list[Hit]
    answers: list[str]
    failed: list[str]


def search(query: SearchRequest, settings: SearchSettings, session: Fetcher) -> SearchAnswer:
    """As many pages as it takes, five at most. A later page that fails ends the list.

    Raises `NotConfigured`, `ConfigInvalid`, `Unauthorized`, `RateLimited`, `NetworkError`.
    """
    provider, base = _configured(settings)
    found: list[Hit] = []
    said: Any = None
    for page in range(1, _PAGES + 1):
        request = _request(provider.ask(replace(query, page=page), settings), base)
        try:
            answer, hits = _asked(request, provider, settings, session)
        except ToolError:
            if page == 1:
                raise
            break
        said = answer if page == 1 else said
        before = len(found)
        found = tidy([*found, *hits], query)
        if not len(found) - before > 0 or len(found) >= query.num_results:
            break
        if len(hits) < getattr(provider, "page_size", query.num_results + 1):
            break
    told = [shorten(visible(text), SNIPPET) for text in answers(said)]
    return SearchAnswer(found, told, [one_line(text, 80) for text in failed(said)])


def _configured(settings: SearchSettings) -> tuple[Provider, str]:
    """The provider and its address."""
    provider = find_provider(settings.provider)
    if provider.needs_key and not settings.api_key:
        raise NotConfigured(
            f"The search provider {settings.provider} has no key.",
            hint=f"Ask the user to set {key_variable(settings.provider)}.",
        )
    base = settings.base_url or provider.base_url
    if not base:
        raise NotConfigured(
            f"The search provider {settings.provider} has no address.",
            hint=f"Ask the user to set {BASE_URL}, such as http://localhost:8080.",
        )
    return provider, base


def _asked(
    request: HttpRequest, provider: Provider, settings: SearchSettings, session: Fetcher
) -> tuple[Any, list[Hit]]:
    """What one request was answered, and the hits in it."""
    answer = _trusting(session, request.url).send(request)
    text = decode_page(answer.body, answer.headers.get("content-type", ""))
    parse = getattr(provider, "parse", json.loads)
    if answer.status not in (200, 202):
        raise _failure(answer, settings)
    try:
        said = parse(text)
        return said, list(provider.hits(said))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise NetworkError(
            f"{settings.provider} at {answer.url.host} answered in an unknown form.",
            hint="Try again; if it stays, the base URL may not be a search service.",
        ) from None


@cache
def find_provider(name: str) -> Provider:
    """The provider called `name`: ours, then entry points. Raises `ConfigInvalid`."""
    if name in BUILTIN:
        return BUILTIN[name]
    others = entry_points(group=GROUP)
    for point in others:
        if point.name == name:
            found: Provider = point.load()
            return found
    names = ", ".join([*BUILTIN, *sorted({point.name for point in others})])
    raise ConfigInvalid(f"There is no search provider {name!r}.", hint=f"There are: {names}.")


def _request(ask: ProviderRequest, base: str) -> HttpRequest:
    url = parse_url(base.rstrip("/") + ask.path, "base_url")
    headers = {"Accept": "application/json", **ask.headers}
    if ask.json is not None:
        body, kind = json.dumps(ask.json).encode(), "application/json"
    elif ask.form is not None:
        body, kind = urlencode(ask.form).encode(), "application/x-www-form-urlencoded"
    else:
        return HttpRequest(url, headers=headers)
    return HttpRequest(url, "POST", {**headers, "Content-Type": kind}, body)


def _trusting(session: Fetcher, url: Url) -> Fetcher:
    """The host chose this address, so it may be local; the model cannot change it."""
    own = HostRule(url.host.rstrip("."), url.port)
    return replace(session, guard=Guard((*session.guard.allow, own), session.guard.deny))


def _failure(answer: Download, settings: SearchSettings) -> ToolError:
    details = {"status": answer.status}
    said = f"{settings.provider} answered with status {answer.status}"
    if answer.status == 403 and settings.provider == "searxng":
        return HttpFailed(
            f"{said}: its JSON format is off.",
            hint="Ask the user to add json to search.formats in SearXNG's settings.yml.",
            details=details,
        )
    if answer.status in (401, 403):
        return Unauthorized(
            f"{said}: the key is not valid.",
            hint=f"Ask the user to check {key_variable(settings.provider)}.",
            details=details,
        )
    if answer.status == 429 or answer.status >= 500:
        return failure(replace(answer, url=replace(answer.url, target="/")))
    why = one_line(answer.body[:400].decode("utf-8", "replace"), 200)
    return HttpFailed(f"{said}: {why or 'no reason given'}.", details=details)
