"""Ask the configured search service, and say what went wrong in words that name the setting."""

import json
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points

from fsagent_tools.errors import (
    ConfigInvalid,
    HttpFailed,
    NetworkError,
    NotConfigured,
    ToolError,
    Unauthorized,
)
from fsagent_tools.hosts import HostRule
from fsagent_tools.web.charset import decode_page
from fsagent_tools.web.clean import one_line
from fsagent_tools.web.exchange import HttpRequest
from fsagent_tools.web.fetch import Download, Fetcher, failure
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.search.provider import Hit, Provider, ProviderRequest, SearchRequest, tidy
from fsagent_tools.web.search.providers import BUILTIN
from fsagent_tools.web.search.settings import (
    BASE_URL,
    KEY_VARIABLES,
    PROVIDER,
    SearchSettings,
    key_variable,
)
from fsagent_tools.web.url import Url, parse_url

GROUP = "fsagent_tools.search_providers"


def search(query: SearchRequest, settings: SearchSettings | None, session: Fetcher) -> list[Hit]:
    """Raises `NotConfigured`, `ConfigInvalid`, `Unauthorized`, `RateLimited`, `NetworkError`."""
    if settings is None:
        raise NotConfigured(
            "No search provider is set.",
            hint=f"Ask the user to set one of {', '.join(KEY_VARIABLES.values())}, or "
            f"{PROVIDER} (and {BASE_URL}, for example for searxng), or Workspace(search=...).",
        )
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
    request = _request(provider.ask(query, settings), base)
    answer = _trusting(session, request.url).send(request)
    if answer.status != 200:
        raise _failure(answer, settings)
    return tidy(_hits(provider, answer, settings), query)


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
    if ask.json is None:
        return HttpRequest(url, headers=headers)
    body = json.dumps(ask.json).encode()
    return HttpRequest(url, "POST", {**headers, "Content-Type": "application/json"}, body)


def _trusting(session: Fetcher, url: Url) -> Fetcher:
    """The host chose this address, so it may be local; the model cannot change it."""
    own = HostRule(url.host.rstrip("."), url.port)
    return replace(session, guard=Guard((*session.guard.allow, own), session.guard.deny))


def _hits(provider: Provider, answer: Download, settings: SearchSettings) -> list[Hit]:
    try:
        said = json.loads(decode_page(answer.body, answer.headers.get("content-type", "")))
        return list(provider.hits(said))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise NetworkError(
            f"{settings.provider} at {answer.url.host} answered in an unknown form.",
            hint="Try again; if it stays, the base URL may not be a search service.",
        ) from None


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
