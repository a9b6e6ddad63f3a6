"""Pages as text. Runs in a process of its own, as the readers of documents do."""

import json
import re
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement as Element

from fsagent_tools.sanitize import one_line, visible
from fsagent_tools.text import shorten
from fsagent_tools.web.extract import content
from fsagent_tools.web.markdown import to_text

MAX_HTML = 2 << 20  # bytes of HTML that are converted: 1.2 to 3.2 s of computing for each MB
MIN_SCRIPTLESS = 400  # characters that a page has to say to readers without scripts
SUMMARY = 500  # characters of one entry's summary in a feed
TITLE = 200  # characters


def html_page(data: bytes, url: str, wanted: str) -> dict[str, Any]:
    """The fields of a `Page`."""
    source, plain, notes = data.decode(), wanted == "text", ""
    if len(data) > MAX_HTML:
        source = data[: data.rfind(b"<", 0, MAX_HTML)].decode("utf-8", "replace")
        notes = (
            f"\n\n[The HTML has {len(data):,} bytes; the first {MAX_HTML:,} were converted. "
            "Fetch it with format='html' to read the rest.]"
        )
    found, site = content(source), urljoin(url, "/")
    url = urljoin(url, found.base)
    text = to_text(found.element, url, site, plain=plain)
    if not visible(text).strip():
        other = to_text(content(source, scriptless=True).element, url, site, plain=plain)
        text = other if len(other) >= MIN_SCRIPTLESS else ""
    is_shortened = re.search(r"\]\(/", text)
    return {
        "text": visible(text).strip() + notes,
        "title": one_line(found.title, TITLE),
        "site": site if is_shortened else "",
        "refresh": found.refresh,
    }


def data_page(data: bytes, kind: str) -> dict[str, Any]:
    """JSON indented, a feed as a list; other XML as it is."""
    source, title = data.decode(), ""
    if kind.endswith("json"):
        with suppress(ValueError, RecursionError):
            source = json.dumps(json.loads(source), indent=2, ensure_ascii=False)
    else:
        title, source = feed(source) or ("", source)
    return {"text": visible(source), "title": one_line(title, TITLE)}


def feed(source: str) -> tuple[str, str] | None:
    """(title, Markdown) of an RSS or Atom feed, None for any other XML. No entity is resolved."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False)
    root = etree.fromstring(source.lstrip().encode(), parser)
    if root is None or etree.QName(root).localname not in ("rss", "feed", "RDF"):
        return None
    entries = root.xpath("//*[local-name()='item' or local-name()='entry']")
    title = _text_of(root, "title")
    return title, "\n\n".join([f"# {title}" if title else "", *map(_entry, entries)]).strip()


def _entry(entry: Element) -> str:
    title = _text_of(entry, "title") or "(no title)"
    link = _text_of(entry, "link") or str(entry.xpath("string(*[local-name()='link']/@href)"))
    summary = _text_of(entry, "description", "summary", "content")
    if "<" in summary or "&" in summary:
        summary = to_text(content(summary).element, "", "", plain=True)
    heading = f"## [{title}]({link})" if link else f"## {title}"
    date = _text_of(entry, "pubDate", "published", "updated")
    return "\n\n".join(filter(None, [heading, date, shorten(summary, SUMMARY)]))


def _text_of(el: Element, *names: str) -> str:
    """The text of the first descendant of the first of these names that has one."""
    found = (el.xpath("normalize-space((.//*[local-name()=$n])[1])", n=name) for name in names)
    return next(filter(None, map(str, found)), "")


_FUNCTIONS = {"html": html_page, "data": data_page}  # see `media.worker`
