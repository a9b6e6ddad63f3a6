"""The search services that come with the package, each as its API documents it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fsagent_tools.web.search.provider import Hit, Provider, ProviderRequest, SearchRequest
from fsagent_tools.web.search.settings import SearchSettings


class Exa:
    """https://docs.exa.ai: POST /search, key in x-api-key."""

    base_url = "https://api.exa.ai"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        body: dict[str, Any] = {
            "query": query.text,
            "numResults": query.num_results,
            "contents": {"highlights": True},
        }
        if query.include_domains:
            body["includeDomains"] = list(query.include_domains)
        if query.exclude_domains:
            body["excludeDomains"] = list(query.exclude_domains)
        return ProviderRequest("/search", {"x-api-key": settings.api_key}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [
            Hit(
                row.get("title") or row["url"],
                row["url"],
                " … ".join(row.get("highlights") or ()) or row.get("text") or "",
                (row.get("publishedDate") or "")[:10],
            )
            for row in answer["results"]
        ]


class Tavily:
    """https://docs.tavily.com: POST /search, key as bearer."""

    base_url = "https://api.tavily.com"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        body = {
            "query": query.text,
            "max_results": min(query.num_results, 20),
            "include_domains": list(query.include_domains),
            "exclude_domains": list(query.exclude_domains),
        }
        return ProviderRequest("/search", {"Authorization": f"Bearer {settings.api_key}"}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="content", date="published_date") for row in answer["results"]]


class Brave:
    """https://api-dashboard.search.brave.com: GET /res/v1/web/search, X-Subscription-Token."""

    base_url = "https://api.search.brave.com"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = urlencode({"q": query.with_operators(), "count": min(query.num_results, 20)})
        headers = {"X-Subscription-Token": settings.api_key}
        return ProviderRequest(f"/res/v1/web/search?{form}", headers)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        # A search without results has no `web` at all.
        rows = (answer.get("web") or {"results": []})["results"]
        return [_hit(row, snippet="description", date="age") for row in rows]


class Serper:
    """https://serper.dev: POST /search, key in X-API-KEY."""

    base_url = "https://google.serper.dev"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        body = {"q": query.with_operators(), "num": query.num_results}
        return ProviderRequest("/search", {"X-API-KEY": settings.api_key}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, url="link", snippet="snippet", date="date") for row in answer["organic"]]


class SearXNG:
    """https://docs.searxng.org: GET /search?format=json; its JSON has to be switched on."""

    base_url = ""
    needs_key = False

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = urlencode({"q": query.with_operators(), "format": "json"})
        key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        return ProviderRequest(f"/search?{form}", key)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="content", date="publishedDate") for row in answer["results"]]


BUILTIN: dict[str, Provider] = {
    "exa": Exa(),
    "tavily": Tavily(),
    "brave": Brave(),
    "serper": Serper(),
    "searxng": SearXNG(),
}


def _hit(row: Mapping[str, Any], *, url: str = "url", snippet: str, date: str) -> Hit:
    published = str(row.get(date) or "")
    return Hit(
        row.get("title") or row[url],
        row[url],
        row.get(snippet) or "",
        published[:10] if published[4:5] == "-" else published,
    )
