"""Fetch one URL."""

from dataclasses import dataclass, field, replace

from fsagent_tools.answers.action import Effect, Field, Params, Workspace, action
from fsagent_tools.errors import (
    BinaryFile,
    InvalidArguments,
    MissingDependency,
    TooLarge,
    TooManyRedirects,
)
from fsagent_tools.results import Block
from fsagent_tools.text import clip
from fsagent_tools.web.clean import untrusted
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.converted import EMPTY
from fsagent_tools.web.fetch import Download, Fetcher, failure
from fsagent_tools.web.guard import Guard
from fsagent_tools.web.html import lacks_lxml
from fsagent_tools.web.page import Format, Page, page_of
from fsagent_tools.web.pieces import cut_page, sections
from fsagent_tools.web.url import Url, forgive, parse_url

_LIMIT = 50_000  # characters of a page in one answer
_MAX_BYTES, _MOST_BYTES = 10 * 2**20, 50 * 2**20
_ERROR = 2000  # characters of an error's body
_PASSAGE = 300  # characters up to which a page that sends its reader on is only a passage
MAX_TIMEOUT = 300  # seconds
ACCEPT = {
    "markdown": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
    "text": "text/plain, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5",
    "html": "text/html, application/xhtml+xml;q=0.9, */*;q=0.5",
}


class WebfetchParams(Params):
    url: str = Field(description="Full http or https URL.")
    format: Format = Field("markdown", description="What a page becomes.")
    timeout: int = Field(30, ge=1, le=MAX_TIMEOUT, description="Seconds for the whole fetch.")
    offset: int = Field(
        0, ge=0, description="Character to go on from in a page that was truncated."
    )
    limit: int = Field(_LIMIT, ge=100, description="Characters of a page in one answer.")
    max_bytes: int = Field(
        _MAX_BYTES, ge=1, le=_MOST_BYTES, description="Bytes that are fetched at most."
    )


@dataclass(frozen=True)
class Fetched:
    """`content` is the piece without the lines around it; `bytes` is the size of the body.

    site: what links that begin with a slash are at. sections: (offset, heading) further on.
    """

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
    sections: list[tuple[int, str]] = field(default_factory=list)
    blocks: tuple[Block, ...] = ()

    def render(self) -> str:
        if self.redirect:
            return (
                f"{self.url} redirects to another site, which was not followed.\n"
                f"To go there, call again with url={self.redirect}"
            )
        title = f"; title: {self.title}" if self.title else ""
        site = f"; links that begin with / are at {self.site}" if self.site else ""
        ahead = "; ".join(f"{offset} {heading}" for offset, heading in self.sections)
        text = f"{self.content}\n\nFurther on, by `offset`: {ahead}" if ahead else self.content
        return untrusted(f"web page {self.url}", text, title + site)


@action(effect=Effect.NETWORK, lacks=lambda workspace: lacks_lxml())
def webfetch(workspace: Workspace, params: WebfetchParams) -> Fetched:
    """Fetch a public URL: pages as Markdown, text or HTML; also JSON, feeds, PDF and images."""
    url = parse_url(forgive(params.url))
    key = (url, params.format)
    # Going on in a page cuts the text that was fetched first, so that its pieces agree.
    known = workspace.services.pages.find(key) if params.offset else None
    download, page = known or _fetch(workspace, params, url)
    workspace.services.pages.keep(key, (download, page))
    return _piece(params, download, page)


def _fetch(workspace: Workspace, params: WebfetchParams, url: Url) -> tuple[Download, Page]:
    policy = workspace.policy
    clock = Clock(params.timeout, f"finding {url.host}")
    guard = Guard(policy.opened_hosts, policy.closed_hosts)
    session = Fetcher(guard, clock, params.max_bytes, proxy=policy.tunnel)
    return _followed(session, url, params)


def _followed(session: Fetcher, url: Url, params: WebfetchParams) -> tuple[Download, Page]:
    """The page at `url`, or where pages without words of their own send their reader."""
    headers = {"Accept": ACCEPT[params.format]}
    for _ in range(session.max_redirects + 1):
        download = session.get(url, headers)
        if download.elsewhere:
            return download, Page("")
        if download.status >= 400:
            raise failure(download, _body(download, session.clock))
        page = page_of(download, params.format, session.clock)
        if not page.refresh or len(page.text) > _PASSAGE:
            return download, page
        url = download.url.join(page.refresh)
        if not download.url.same_site(url):
            session.check(url)
            return replace(download, elsewhere=url), Page("")
    raise TooManyRedirects(f"{url} keeps redirecting.", hint="Use another source.")


def _body(download: Download, clock: Clock) -> str:
    """What a server says about an error, as far as it is text."""
    try:
        text = page_of(download, "markdown", clock).text.strip()
    except (BinaryFile, TooLarge, MissingDependency):
        return ""
    if not text or text == EMPTY:
        return ""
    return "\n" + untrusted("its body", clip(text, _ERROR))


def _piece(params: WebfetchParams, download: Download, page: Page) -> Fetched:
    if params.offset and params.offset >= len(page.text):
        raise InvalidArguments(
            f"`offset`: {params.offset:,} is past the end of the page, which has "
            f"{len(page.text):,} characters."
        )
    piece = cut_page(page.text, params.offset, params.limit)
    more = piece.end < piece.total
    ahead = sections(page.text, piece.end) if more and params.format == "markdown" else []
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
        sections=ahead,
        blocks=page.blocks if not params.offset else (),
    )
