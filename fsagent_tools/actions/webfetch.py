"""Fetch one URL."""

import re
from dataclasses import dataclass, field, replace

from fsagent_tools.deadline import Deadline
from fsagent_tools.errors import (
    BinaryFile,
    InvalidArguments,
    MissingDependency,
    TooLarge,
    TooManyRedirects,
)
from fsagent_tools.policy.addresses import Guard
from fsagent_tools.results import Block
from fsagent_tools.sanitize import untrusted
from fsagent_tools.text import clip
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.web.client import Download, WebClient, failure, lacks_packages
from fsagent_tools.web.pages import EMPTY, Format, Page, page_of
from fsagent_tools.web.urls import Url, corrected, parse_url

_LIMIT = 50_000  # characters of a page in one answer
_MAX_BYTES, _MOST_BYTES = 10 * 2**20, 50 * 2**20
_ERROR = 2000  # characters of an error's body
_PASSAGE = 300  # characters up to which a page that sends its reader on is only a passage
MAX_TIMEOUT = 300  # seconds
_HEADING = re.compile(r"(#{1,4}) (.+)")
_MOST_SECTIONS, _TITLE_SHOWN = 30, 60  # of the list of sections; characters of a title in it
_SLACK = 0.2  # share of a piece that may be given up to end it at the end of a line
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


@action(effect=Effect.NETWORK, lacks=lambda workspace: lacks_packages())
def webfetch(workspace: Workspace, params: WebfetchParams) -> Fetched:
    """Fetch a public URL: pages as Markdown, text or HTML; also JSON, feeds, PDF and images."""
    url = parse_url(corrected(params.url))
    key = (url, params.format)
    # Going on in a page cuts the text that was fetched first, so that its pieces agree.
    known = workspace.services.pages.get(key) if params.offset else None
    download, page = known or _fetch(workspace, params, url)
    workspace.services.keep_page(key, (download, page))
    return _piece(params, download, page)


def _fetch(workspace: Workspace, params: WebfetchParams, url: Url) -> tuple[Download, Page]:
    policy = workspace.policy
    deadline = Deadline(params.timeout, f"finding {url.host}")
    guard = Guard(policy.opened_hosts, policy.closed_hosts)
    client = WebClient(guard, deadline, params.max_bytes, proxy=policy.tunnel)
    return _followed(client, url, params)


def _followed(client: WebClient, url: Url, params: WebfetchParams) -> tuple[Download, Page]:
    """The page at `url`, or where pages without words of their own send their reader."""
    headers = {"Accept": ACCEPT[params.format]}
    for _ in range(client.max_redirects + 1):
        download = client.get(url, headers)
        if download.elsewhere:
            return download, Page("")
        if download.status >= 400:
            raise failure(download, _body(download, client.deadline))
        page = page_of(download, params.format, client.deadline)
        if not page.refresh or len(page.text) > _PASSAGE:
            return download, page
        url = download.url.join(page.refresh)
        if not download.url.is_same_site(url):
            client.check(url)
            return replace(download, elsewhere=url), Page("")
    raise TooManyRedirects(f"{url} keeps redirecting.", hint="Use another source.")


def _body(download: Download, deadline: Deadline) -> str:
    """What a server says about an error, as far as it is text."""
    try:
        text = page_of(download, "markdown", deadline).text.strip()
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
    content, end = _cut(page.text, params.offset, params.limit)
    more = end < len(page.text)
    ahead = _sections(page.text, end) if more and params.format == "markdown" else []
    return Fetched(
        url=str(download.url),
        format=params.format,
        bytes=len(download.body),
        status=download.status,
        content_type=download.content_type,
        title=page.title,
        truncated=more,
        next_offset=end if more else None,
        redirect=str(download.elsewhere) if download.elsewhere else None,
        content=content,
        note=f"[truncated; go on with `offset`={end}]" if more else "",
        site=page.site,
        sections=ahead,
        blocks=page.blocks if not params.offset else (),
    )


def _cut(text: str, offset: int, limit: int) -> tuple[str, int]:
    """At most `limit` characters from `offset` on and their end, after a line if one ends near."""
    end = min(offset + limit, len(text))
    if end < len(text):
        line = text.rfind("\n", offset + int(limit * (1 - _SLACK)), end)
        end = line + 1 if line > offset else end
    return text[offset:end], end


def _sections(text: str, start: int) -> list[tuple[int, str]]:
    """(offset, title) of a Markdown page's headings from `start` on, the upper ones when many."""
    found, at, fenced = list[tuple[int, int, str]](), 0, False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading and at >= start:
            found.append((len(heading[1]), at, heading[2].strip()[:_TITLE_SHOWN]))
        at += len(line)
    fitting = (n for n in (4, 3, 2) if sum(row[0] <= n for row in found) <= _MOST_SECTIONS)
    level = max(fitting, default=2)
    return [(at, title) for depth, at, title in found if depth <= level][:_MOST_SECTIONS]
