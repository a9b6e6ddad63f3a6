"""The search services that `websearch` can ask, each as its API documents it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from fsagent_tools.errors import MissingDependency, RateLimited
from fsagent_tools.web.client import INSTALL


@dataclass(frozen=True)
class Provider:
    """How a service is asked, and where its answer has what.

    Args:
        base_url: "" where the settings must give one.
        method: With POST the fields go as JSON, unless `form` is set.
        key_header: Header of the key, and what stands before it there.
        fields: Of a request, made of the query, the number of results and of the page, from 1.
        rows: The hits in an answer. Raises `LookupError` or `TypeError` for a wrong shape.
        url, snippet, date: Names of a hit's fields.
        page_size: Hits of a full answer where more pages follow; 0 where none do.
        parse: Reads an answer that is not JSON.
    """

    base_url: str
    path: str
    fields: Callable[[str, int, int], dict[str, Any]]
    rows: Callable[[Any], Any]
    method: str = "GET"
    key_header: tuple[str, str] = ("Authorization", "Bearer ")
    url: str = "url"
    snippet: str = "content"
    date: str = ""
    page_size: int = 0
    needs_key: bool = True
    form: bool = False
    parse: Callable[[str], Any] | None = None


def _duckduckgo_page(text: str) -> Any:
    """The page as a tree. Raises `RateLimited` for the one that asks for a person."""
    try:
        from lxml import html
    except ImportError:
        raise MissingDependency("Reading DuckDuckGo needs lxml.", hint=f"{INSTALL}.") from None
    page = html.document_fromstring(text if text.strip() else "<p>")
    if page.xpath("//*[contains(@class, 'anomaly') or @id='challenge-form']"):
        raise RateLimited(
            "duckduckgo asks for proof that a person is searching.",
            hint="Try again later, or ask the user to configure another search service.",
        )
    return page


def _duckduckgo_rows(page: Any) -> list[Mapping[str, str]]:
    def of_class(name: str) -> str:
        return f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"

    found = list[Mapping[str, str]]()
    for row in page.xpath(of_class("result")):
        links = row.xpath(of_class("result__a"))
        if links and "result--ad" not in row.get("class", ""):
            href = urljoin("https://duckduckgo.com/", links[0].get("href", ""))
            counted = urlsplit(href).path == "/l/" and parse_qs(urlsplit(href).query).get("uddg")
            snippet = " ".join(
                part.text_content() for part in row.xpath(of_class("result__snippet"))
            )
            title, url = links[0].text_content(), counted[0] if counted else href
            found.append({"title": title, "url": url, "content": snippet})
    if not (found or page.xpath(f"{of_class('no-results')} | //*[@id='links']")):
        raise ValueError("neither results nor the word that there are none")
    return found


PROVIDERS = {
    "exa": Provider(  # https://docs.exa.ai
        "https://api.exa.ai",
        "/search",
        lambda q, n, page: {"query": q, "numResults": n, "contents": {"highlights": True}},
        lambda answer: [
            {**row, "content": " … ".join(row.get("highlights") or ()) or row.get("text")}
            for row in answer["results"]
        ],
        "POST",
        ("x-api-key", ""),
        date="publishedDate",
    ),
    "tavily": Provider(  # https://docs.tavily.com
        "https://api.tavily.com",
        "/search",
        lambda q, n, page: {"query": q, "max_results": min(n, 20)},
        lambda answer: answer["results"],
        "POST",
        date="published_date",
    ),
    "brave": Provider(  # https://api-dashboard.search.brave.com
        "https://api.search.brave.com",
        "/res/v1/web/search",
        lambda q, n, page: {"q": q, "count": min(n, 20), "offset": page - 1},
        lambda answer: [
            {**row, "content": " … ".join([row["description"], *(row.get("extra_snippets") or ())])}
            for row in (answer.get("web") or {"results": []})["results"]  # none without results
        ],
        key_header=("X-Subscription-Token", ""),
        date="age",
        page_size=20,
    ),
    "serper": Provider(  # https://serper.dev
        "https://google.serper.dev",
        "/search",
        lambda q, n, page: {"q": q, "num": n, "page": page},
        lambda answer: answer.get("organic") or [],  # an answer of its own may stand alone
        "POST",
        ("X-API-KEY", ""),
        url="link",
        snippet="snippet",
        date="date",
        page_size=10,
    ),
    "searxng": Provider(  # https://docs.searxng.org
        "",
        "/search",
        lambda q, n, page: {"q": q, "format": "json", "pageno": page},
        lambda answer: answer["results"],
        date="publishedDate",
        page_size=1,  # what its engines give; an empty page is the last
        needs_key=False,
    ),
    "duckduckgo": Provider(  # its page without scripts, which blocks who asks often
        "https://html.duckduckgo.com",
        "/html/",
        lambda q, n, page: {"q": q, "b": "", **({"s": 15 * page - 20} if page > 1 else {})},
        _duckduckgo_rows,
        "POST",
        page_size=1,
        needs_key=False,
        form=True,
        parse=_duckduckgo_page,
    ),
}
