"""HTML elements as Markdown, piece by piece, so that memory does not grow with the page."""

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from fsagent_tools.errors import MissingDependency
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.html import BLOCKS, text

PIECE = 300  # elements that are converted at once
CONTAINERS = {"body", "div", "section", "article", "main", "center", "fieldset"}
DEEPEST = 60  # levels of containers that are taken apart
NESTED = f"boolean({'/'.join(['*'] * 150)})"  # the parser behind bs4 drops what is 256 levels deep
EMPTY_HEADER = re.compile(r"\|[ |]*\|\n\|[-| ]+\|\n")
FENCE = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


def markdown(root: Any, clock: Clock) -> str:
    """`root` as Markdown: ATX headings, fenced code with its language, pipe tables.

    A piece nested too deeply to convert becomes its plain text. Raises `MissingDependency`.
    """
    parts: list[str] = []
    for piece, glue in _pieces(root, 0, clock):
        clock.check()
        done = _convert(piece, clock).strip("\n")
        if glue == "\n" and (header := EMPTY_HEADER.match(done)):
            done = done[header.end() :]
        if done.strip():
            parts += [glue, done]
    return "".join(parts[1:])


def _pieces(root: Any, depth: int, clock: Clock) -> Iterator[tuple[str, str]]:
    """HTML small enough to convert, in order, each with what joins it to the piece before."""
    held, count = [escape(root.text or "")], 0
    for child in root.iterchildren():
        size = _elements(child)
        apart = _apart(child, depth, clock) if size > PIECE else None
        if apart is not None or (count > PIECE and child.tag in BLOCKS):
            yield "".join(held), "\n\n"
            held, count = [], 0
        if apart is not None:
            yield from apart
            held.append(escape(child.tail or ""))
        else:
            held.append(_html(child, clock, with_tail=True))
            count += size
    yield "".join(held), "\n\n"


def _apart(el: Any, depth: int, clock: Clock) -> Iterator[tuple[str, str]] | None:
    """How a large element is taken apart; None when it can only be converted whole."""
    if el.tag in CONTAINERS and depth < DEEPEST:
        return _pieces(el, depth + 1, clock)
    if el.tag == "table" and el.find(".//table") is None:
        return _batches(el, list(el.iterdescendants("caption", "tr")), clock)
    if el.tag in ("ul", "ol"):
        return _batches(el, list(el.iterchildren()), clock)
    return None


def _batches(el: Any, rows: list[Any], clock: Clock) -> Iterator[tuple[str, str]]:
    """A long table or list as several that read as one."""
    start = int(el.get("start", "1")) if re.fullmatch(r"\d{1,9}", el.get("start", "1")) else 1
    held, count, glue = [], 0, "\n\n"
    for number, row in enumerate(rows, 1):
        held.append(_html(row, clock))
        count += _elements(row)
        if count > PIECE or number == len(rows):
            yield f"<{el.tag} start='{start}'>{''.join(held)}</{el.tag}>", glue
            held, count, glue, start = [], 0, "\n", start + len(held)


def _elements(el: Any) -> int:
    return int(el.xpath("count(.//*)")) + 1


def _html(el: Any, clock: Clock, *, with_tail: bool = False) -> str:
    from lxml import etree

    if el.xpath(NESTED):
        words = "".join(f"<p>{escape(line)}</p>" for line in text(el, clock).split("\n") if line)
        return words + escape(el.tail or "" if with_tail else "")

    return str(etree.tostring(el, encoding="unicode", method="html", with_tail=with_tail))


def _convert(piece: str, clock: Clock) -> str:
    try:
        from bs4 import BeautifulSoup
    except ImportError:
        raise _missing() from None
    soup = BeautifulSoup(f"<div>{piece}</div>", "lxml")
    try:
        return str(_converter()(clock).convert_soup(soup))
    except RecursionError:
        from lxml import html

        return text(html.document_fromstring(f"<div>{piece}</div>"), clock)
    finally:
        soup.decompose()  # a tree of cycles, which would wait for the garbage collector


@cache
def _converter() -> Any:
    """markdownify's converter with a deadline, longer fences where needed, and escaped pipes."""
    try:
        import markdownify
    except ImportError:
        raise _missing() from None
    base: Any = markdownify.MarkdownConverter

    class Converter(base):  # type: ignore[misc]  # its methods are made by name at run time
        def __init__(self, clock: Clock) -> None:
            super().__init__(heading_style="ATX", bullets="-", escape_underscores=False)
            self._clock = clock

        def process_tag(self, node: Any, parent_tags: Any = None) -> str:
            self._clock.check()
            return str(super().process_tag(node, parent_tags=parent_tags))

        def convert_pre(self, el: Any, text: str, parent_tags: Any) -> str:
            if not text.strip():
                return ""
            ticks = max([2, *(len(run) for run in FENCE.findall(text))]) + 1
            code = text.strip("\n").rstrip()
            return f"\n\n{'`' * ticks}{el.get('data-language', '')}\n{code}\n{'`' * ticks}\n\n"

        def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
            return str(super().convert_td(el, _cell(text), parent_tags))

        def convert_th(self, el: Any, text: str, parent_tags: Any) -> str:
            return str(super().convert_th(el, _cell(text), parent_tags))

    return Converter


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text.strip())


def _missing() -> MissingDependency:
    return MissingDependency(
        "Markdown needs beautifulsoup4 and markdownify.",
        hint="pip install 'fsagent-tools[web]', or fetch with format='text'.",
    )
