"""The search services that come with the package, each as its API documents it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fsagent_tools.web.search.duckduckgo import DuckDuckGo
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
        }
        return ProviderRequest("/search", {"Authorization": f"Bearer {settings.api_key}"}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="content", date="published_date") for row in answer["results"]]


class Brave:
    """https://api-dashboard.search.brave.com: GET /res/v1/web/search, X-Subscription-Token."""

    base_url = "https://api.search.brave.com"
    needs_key = True
    page_size = 20

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        count = min(query.num_results, self.page_size)
        form = urlencode({"q": query.text, "count": count, "offset": query.page - 1})
        headers = {"X-Subscription-Token": settings.api_key}
        return ProviderRequest(f"/res/v1/web/search?{form}", headers)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        # A search without results has no `web` at all.
        rows = (answer.get("web") or {"results": []})["results"]
        return [
            replace(
                hit := _hit(row, snippet="description", date="age"),
                snippet=" … ".join([hit.snippet, *(row.get("extra_snippets") or ())]),
            )
            for row in rows
        ]


class Serper:
    """https://serper.dev: POST /search, key in X-API-KEY."""

    base_url = "https://google.serper.dev"
    needs_key = True
    page_size = 10

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        body = {"q": query.text, "num": query.num_results, "page": query.page}
        return ProviderRequest("/search", {"X-API-KEY": settings.api_key}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        # An answer of its own may stand alone.
        rows = answer.get("organic") or []
        return [_hit(row, url="link", snippet="snippet", date="date") for row in rows]


class SearXNG:
    """https://docs.searxng.org: GET /search?format=json; its JSON has to be switched on."""

    base_url = ""
    needs_key = False
    page_size = 1  # what its engines give; an empty page is the last

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = urlencode({"q": query.text, "format": "json", "pageno": query.page})
        key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        return ProviderRequest(f"/search?{form}", key)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="content", date="publishedDate") for row in answer["results"]]


class Perplexity:
    """https://docs.perplexity.ai: POST /search, key as bearer."""

    base_url = "https://api.perplexity.ai"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        body = {"query": query.text, "max_results": min(query.num_results, 20)}
        return ProviderRequest("/search", {"Authorization": f"Bearer {settings.api_key}"}, body)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="snippet", date="date") for row in answer["results"]]


class Kagi:
    """https://help.kagi.com/kagi/api/search.html: GET /api/v0/search, key as bot."""

    base_url = "https://kagi.com"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = urlencode({"q": query.text, "limit": query.num_results})
        headers = {"Authorization": f"Bot {settings.api_key}"}
        return ProviderRequest(f"/api/v0/search?{form}", headers)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        rows = [row for row in answer["data"] if row["t"] == 0]  # 1 are related searches
        return [_hit(row, snippet="snippet", date="published") for row in rows]


class Google:
    """https://developers.google.com/custom-search/v1: the key is `KEY:ENGINE`, ten hits a page."""

    base_url = "https://www.googleapis.com"
    needs_key = True
    page_size = 10

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        key, _, engine = settings.api_key.partition(":")
        form = {"cx": engine, "q": query.text, "num": min(query.num_results, 10)}
        if query.page > 1:
            form["start"] = (query.page - 1) * self.page_size + 1
        return ProviderRequest(f"/customsearch/v1?{urlencode(form)}", {"X-Goog-Api-Key": key})

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        rows = answer.get("items") or []  # a search without results has none
        return [_hit(row, url="link", snippet="snippet", date="") for row in rows]


class Jina:
    """https://jina.ai/reader: GET /?q=, key as bearer; the pages themselves are not asked for."""

    base_url = "https://s.jina.ai"
    needs_key = True

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = urlencode({"q": query.text, "num": query.num_results})
        headers = {
            "Authorization": f"Bearer {settings.api_key}",
            "X-Respond-With": "no-content",
        }
        return ProviderRequest(f"/?{form}", headers)

    def hits(self, answer: Mapping[str, Any]) -> Sequence[Hit]:
        return [_hit(row, snippet="description", date="date") for row in answer["data"]]


BUILTIN: dict[str, Provider] = {
    "exa": Exa(),
    "tavily": Tavily(),
    "brave": Brave(),
    "serper": Serper(),
    "perplexity": Perplexity(),
    "kagi": Kagi(),
    "google": Google(),
    "jina": Jina(),
    "searxng": SearXNG(),
    "duckduckgo": DuckDuckGo(),
}


def _hit(row: Mapping[str, Any], *, url: str = "url", snippet: str, date: str) -> Hit:
    published = str(row.get(date) or "")
    return Hit(
        row.get("title") or row[url],
        row[url],
        row.get(snippet) or "",
        published[:10] if published[4:5] == "-" else published,
    )
