"""RSS and Atom feeds as a list of entries."""

from typing import Any

from fsagent_tools.text import shorten
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.html import content

SUMMARY = 500  # characters of one entry's summary


def feed(source: str, clock: Clock) -> tuple[str, str] | None:
    """(title, Markdown) of a feed, None for any other XML. Entities are not resolved."""
    try:
        from lxml import etree
    except ImportError:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False)
    root = etree.fromstring(source.lstrip().encode(), parser)
    if root is None or etree.QName(root).localname not in ("rss", "feed", "RDF"):
        return None
    entries = root.xpath("//*[local-name()='item' or local-name()='entry']")
    rows = []
    for entry in entries:
        clock.check()
        rows.append(_entry(entry, clock))
    title = _text_of(root, "title")
    return title, "\n\n".join([f"# {title}" if title else "", *rows]).strip()


def _entry(entry: Any, clock: Clock) -> str:
    title = _text_of(entry, "title") or "(no title)"
    link = _text_of(entry, "link") or str(entry.xpath("string(*[local-name()='link']/@href)"))
    date = next(filter(None, (_text_of(entry, n) for n in ("pubDate", "published", "updated"))), "")
    summary = (
        _text_of(entry, "description") or _text_of(entry, "summary") or _text_of(entry, "content")
    )
    words = (
        content(summary, "", clock, plain=True).text
        if "<" in summary or "&" in summary
        else summary
    )
    heading = f"## [{title}]({link})" if link else f"## {title}"
    lines = [heading, date, shorten(words, SUMMARY)]
    return "\n\n".join(filter(None, lines))


def _text_of(el: Any, name: str) -> str:
    """The text of the first descendant called `name`, in whatever namespace."""
    return str(el.xpath("normalize-space((.//*[local-name()=$name])[1])", name=name))
