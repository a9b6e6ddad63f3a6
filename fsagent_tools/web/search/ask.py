"""Ask the configured search service, page after page."""

from dataclasses import dataclass, replace
from typing import Any

from fsagent_tools.errors import ConfigInvalid, NotConfigured, ToolError
from fsagent_tools.text import shorten
from fsagent_tools.web.clean import one_line, visible
from fsagent_tools.web.fetch import Fetcher
from fsagent_tools.web.search.answers import answers, failed
from fsagent_tools.web.search.provider import SNIPPET, Hit, Provider, SearchRequest, tidy
from fsagent_tools.web.search.providers import BUILTIN
from fsagent_tools.web.search.service import put_question
from fsagent_tools.web.search.settings import BASE_URL, SearchSettings, key_variable

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
    provider, base = provider_of(settings)
    found: list[Hit] = []
    first: Any = None
    for page in range(1, _PAGES + 1):
        asked = provider.ask(replace(query, page=page), settings)
        try:
            answer, hits = put_question(asked, base, provider, settings, session)
        except ToolError:
            if page == 1:
                raise
            break
        first = answer if page == 1 else first
        before = len(found)
        found = tidy([*found, *hits], query)
        if not len(found) - before > 0 or len(found) >= query.num_results:
            break
        if len(hits) < getattr(provider, "page_size", query.num_results + 1):
            break
    words = [shorten(visible(text), SNIPPET) for text in answers(first)]
    return SearchAnswer(found, words, [one_line(text, 80) for text in failed(first)])


def provider_of(settings: SearchSettings) -> tuple[Provider, str]:
    """The provider and its address. Raises `NotConfigured`, `ConfigInvalid`."""
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


def find_provider(name: str) -> Provider:
    """The provider called `name`. Raises `ConfigInvalid`."""
    if name in BUILTIN:
        return BUILTIN[name]
    raise ConfigInvalid(
        f"There is no search provider {name!r}.", hint=f"There are: {', '.join(BUILTIN)}."
    )
