"""DuckDuckGo's page without scripts: it needs no key, and blocks who asks often."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from fsagent_tools.errors import MissingDependency, RateLimited
from fsagent_tools.web.search.provider import Hit, ProviderRequest, SearchRequest
from fsagent_tools.web.search.settings import KEY_VARIABLES, SearchSettings

_FIRST, _NEXT = 10, 15  # results of the first page, and of each one after it


class DuckDuckGo:
    """POST /html/; results are `.result` with `.result__a` and `.result__snippet`."""

    base_url = "https://html.duckduckgo.com"
    needs_key = False
    page_size = 1

    def ask(self, query: SearchRequest, settings: SearchSettings) -> ProviderRequest:
        form = {"q": query.text, "b": ""}
        if query.page > 1:
            form["s"] = str(_FIRST + (query.page - 2) * _NEXT)
        return ProviderRequest("/html/", {"Accept": "text/html"}, form=form)

    def parse(self, text: str) -> Any:
        """The page as a tree. Raises `RateLimited` for the one that asks for a person."""
        try:
            from lxml import html
        except ImportError:
            raise MissingDependency(
                "Searching without a key needs lxml.", hint="pip install 'fsagent-tools[web]'."
            ) from None
        page = html.document_fromstring(text if text.strip() else "<p>")
        if page.xpath("//*[contains(@class, 'anomaly') or @id='challenge-form']"):
            raise RateLimited(
                "duckduckgo asks for proof that a person is searching.",
                hint="Try again later, or ask the user to set a search key: "
                f"{', '.join(KEY_VARIABLES.values())}.",
            )
        return page

    def hits(self, answer: Any) -> Sequence[Hit]:
        found = [hit for row in answer.xpath(_of("result")) if (hit := _read(row))]
        if not (found or answer.xpath(f"{_of('no-results')} | //*[@id='links']")):
            raise ValueError("neither results nor the word that there are none")
        return found


def _of(name: str) -> str:
    return f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"


def _read(row: Any) -> Hit | None:
    """None for an advertisement, and for a row without a link."""
    links = row.xpath(_of("result__a"))
    if not links or "result--ad" in row.get("class", ""):
        return None
    snippet = " ".join(part.text_content() for part in row.xpath(_of("result__snippet")))
    return Hit(links[0].text_content(), _target(links[0].get("href", "")), snippet)


def _target(href: str) -> str:
    """Where a link leads that goes by `/l/?uddg=`, which counts it."""
    parts: Mapping[str, list[str]] = parse_qs(urlsplit(href).query)
    counted = urlsplit(href).path == "/l/" and parts.get("uddg")
    return counted[0] if counted else urljoin("https://duckduckgo.com/", href)
