"""Fetch one URL."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from fsagent_tools.action import Params, action
from fsagent_tools.effects import Effect
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.results import Block
from fsagent_tools.web.clean import untrusted
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.fetch import Download, Fetcher
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.page import Format, Page, page_of
from fsagent_tools.web.pages import cut_page
from fsagent_tools.web.url import Url, parse_url
from fsagent_tools.workspace import Workspace

_LIMIT = 50_000  # characters of a page in one answer
_MAX_BYTES = 10 * 2**20
MAX_TIMEOUT = 300  # seconds
ACCEPT = {
    "markdown": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
    "text": "text/plain, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
    "html": "text/html, application/xhtml+xml;q=0.9, */*;q=0.5",
}


class WebfetchParams(Params):
    url: Annotated[str, Field(description="Full http or https URL.")]
    format: Annotated[Format, Field(description="What a page becomes.")] = "markdown"
    timeout: Annotated[
        int, Field(ge=1, le=MAX_TIMEOUT, description="Seconds for the whole fetch.")
    ] = 30
    offset: Annotated[
        int, Field(ge=0, description="Character to go on from in a page that was truncated.")
    ] = 0
    limit: Annotated[int, Field(ge=100)] = _LIMIT
    max_bytes: Annotated[int, Field(ge=1)] = _MAX_BYTES
    max_redirects: Annotated[int, Field(ge=0, le=20)] = 5
    headers: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class Fetched:
    """`content` is the piece without the lines around it; `bytes` is the size of the body."""

    url: str
    format: str
    bytes: int
    status: int
    content_type: str
    title: str
    truncated: bool
    next_offset: int | None
    redirect: str | None
    content: str
    note: str
    site: str = ""
    blocks: tuple[Block, ...] = ()

    def render(self) -> str:
        if self.redirect:
            return (
                f"{self.url} redirects to another site, which was not followed.\n"
                f"To go there, call again with url={self.redirect}"
            )
        title = f"; title: {self.title}" if self.title else ""
        site = f"; links that begin with / are at {self.site}" if self.site else ""
        return untrusted(f"web page {self.url}", self.content, title + site)


@action(effect=Effect.NETWORK)
def webfetch(workspace: Workspace, params: WebfetchParams) -> Fetched:
    """Fetch a public URL: pages as Markdown, text or HTML; also JSON, feeds, PDF and images."""
    url = parse_url(params.url)
    key = (url, params.format)
    # Going on in a page cuts the text that was fetched first, so that its pieces agree.
    known = workspace.services.pages.find(key) if params.offset else None
    download, page = known or _fetch(workspace, params, url)
    workspace.services.pages.keep(key, (download, page))
    return _piece(params, download, page)


def _fetch(workspace: Workspace, params: WebfetchParams, url: Url) -> tuple[Download, Page]:
    policy = workspace.policy
    clock = Clock(params.timeout, f"finding {url.host}")
    session = Fetcher(
        Guard(policy.opened_hosts, policy.closed_hosts),
        clock,
        params.max_bytes,
        params.max_redirects,
    )
    download = session.get(url, {"Accept": ACCEPT[params.format], **params.headers})
    page = Page("") if download.elsewhere else page_of(download, params.format, clock)
    return download, page


def _piece(params: WebfetchParams, download: Download, page: Page) -> Fetched:
    if params.offset and params.offset >= len(page.text):
        raise InvalidArguments(
            f"`offset`: {params.offset:,} is past the end of the page, which has "
            f"{len(page.text):,} characters."
        )
    piece = cut_page(page.text, params.offset, params.limit)
    more = piece.end < piece.total
    return Fetched(
        url=str(download.url),
        format=params.format,
        bytes=len(download.body),
        status=download.status,
        content_type=download.content_type,
        title=page.title,
        truncated=more,
        next_offset=piece.end if more else None,
        redirect=str(download.elsewhere) if download.elsewhere else None,
        content=piece.text,
        note=f"[truncated; go on with `offset`={piece.end}]" if more else "",
        site=page.site,
        blocks=page.blocks if not params.offset else (),
    )
