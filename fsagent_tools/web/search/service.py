"""One question to a search service over HTTP, and what it says when it does not answer."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fsagent_tools.errors import HttpFailed, NetworkError, ToolError, Unauthorized, UnsafeUrl
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.runtime.weight import check_weight
from fsagent_tools.web.charset import decode_page
from fsagent_tools.web.clean import one_line
from fsagent_tools.web.exchange import HttpRequest
from fsagent_tools.web.fetch import Download, Fetcher, failure
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.search.provider import Hit, Provider, ProviderRequest
from fsagent_tools.web.search.providers import BUILTIN
from fsagent_tools.web.search.settings import SearchSettings, key_variable
from fsagent_tools.web.url import Url, parse_url


def put_question(
    asked: ProviderRequest,
    base: str,
    provider: Provider,
    settings: SearchSettings,
    session: Fetcher,
) -> tuple[Any, list[Hit]]:
    """What one request was answered, and the hits in it."""
    request = _request(asked, base)
    if base != provider.base_url or settings.provider not in BUILTIN:
        session = _trusting(session, request.url)
    try:
        answer = session.send(request)
    except NetworkError as error:
        raise NetworkError(
            f"{settings.provider} was not reached: {error.message}",
            hint="Try again later. If it stays, ask the user whether this machine reaches "
            f"{request.url.host}, or needs a proxy.",
        ) from None
    text = decode_page(answer.body, answer.headers.get("content-type", ""))
    parse = getattr(provider, "parse", json.loads)
    if answer.status not in (200, 202):
        raise _failure(answer, settings)
    try:
        check_weight(answer.body)
        parsed = parse(text)
        return parsed, list(provider.hits(parsed))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise NetworkError(
            f"{settings.provider} at {answer.url.host} answered in an unknown form.",
            hint="Try again; if it stays, the base URL may not be a search service.",
        ) from None


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
    if session.proxy:
        with suppress(UnsafeUrl):
            session.check(url)
            return session  # it is not local, so the proxy finds it
    own = HostRule(url.host.rstrip("."), url.port)
    return replace(session, guard=Guard((*session.guard.allow, own), session.guard.deny))


def _failure(answer: Download, settings: SearchSettings) -> ToolError:
    details = {"status": answer.status}
    message = f"{settings.provider} answered with status {answer.status}"
    if answer.status == 403 and settings.provider == "searxng":
        return HttpFailed(
            f"{message}: its JSON format is turned off.",
            hint="Ask the user to add json to search.formats in SearXNG's settings.yml.",
            details=details,
        )
    if answer.status in (401, 403):
        return Unauthorized(
            f"{message}: the key is not valid.",
            hint=f"Ask the user to check {key_variable(settings.provider)}.",
            details=details,
        )
    if answer.status == 429 or answer.status >= 500:
        return failure(replace(answer, url=replace(answer.url, target="/")))
    why = one_line(answer.body[:400].decode("utf-8", "replace"), 200)
    return HttpFailed(f"{message}: {why or 'no reason given'}.", details=details)
