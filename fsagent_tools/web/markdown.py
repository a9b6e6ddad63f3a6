"""An element of a page as Markdown, or as plain text."""

import re
from collections.abc import Iterator
from copy import deepcopy
from textwrap import indent
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.builder import HTMLTreeBuilder
from lxml import etree
from lxml.html import HtmlElement as Element
from markdownify import MarkdownConverter

from fsagent_tools.web.extract import INLINE

LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|src-|brush:\s*"
    r"|(?:hljs|sourceCode)\s+(?!lang))([\w+#.-]+)"
    r"|^code\s+([\w+#.-]+)\s+literal-block|^(rust)(?:\s|$)"  # Docutils, rustdoc
)
NO_LANGUAGES = {
    "none", "default", "plaintext", "text", "wrapper", "container", "highlight", "hljs",
    "numberLines", "fallback",
}  # fmt: skip
EXPONENT = re.compile(r"[-+\u2212]?\d+|[a-z]|\*\w\*")
ORDINAL = {"st", "nd", "rd", "th"}
PERMALINKS = {"#", "¶", "§", "🔗"}
BLOCKS = ("table", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "blockquote")
MAX_COPIES = 1000  # cells of a table that are repeated in rows below
MAX_COPIED = 100_000  # characters of all of them
ROWS = {"ol", "table", "tbody", "ul"}  # their parts are lines, not blocks
DIVIDED = {"article", "body", "center", "div", "main", "section", *ROWS}
MAX_PART = 2000  # elements that are converted at once: beautifulsoup4 takes 2 kB for each


class _Builder(HTMLTreeBuilder):
    """Makes a soup of an element that is parsed, which saves writing and parsing it again."""

    def feed(self, markup: Any) -> None:
        soup = self.soup
        assert soup
        for event, el in etree.iterwalk(markup, events=("start", "end")):
            if event == "start":
                soup.handle_starttag(el.tag, None, None, dict(el.attrib))
                text = el.text
            else:
                soup.handle_endtag(el.tag)
                text = el.tail
            if text:
                soup.handle_data(text)


class _Tag(Tag):
    """Of each the converter asks whether it is in a `pre`, which takes a third of its time else."""

    def find_parent(self, name: str, **_: object) -> Tag | None:  # type: ignore[override]
        return next((outer for outer in self.parents if outer.name == name), None)


class Markdown(MarkdownConverter):
    """Links keep their words where they lead nowhere; a picture is what it is said to show."""

    class Options(MarkdownConverter.DefaultOptions):  # type: ignore[misc, name-defined]
        # `DefaultOptions` of a subclass would be ignored
        heading_style = "atx"
        bullets = "-"
        escape_underscores = False
        wrap, wrap_width = True, None  # a paragraph is one line

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        href = str(el.get("href", ""))
        if not href or href.startswith(("#", "javascript:")):
            return "" if text.strip() in PERMALINKS else text
        if "\n\n" in text:
            text = el.get_text(" ")
        text = re.sub(r"\s*\n\s*", " ", text)
        el.attrs.pop("title", None)
        converted = super().convert_a(el, text, parent_tags)  # type: ignore[misc]
        return str(converted) if text.strip() else ""

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        alt, src = " ".join(str(el.get("alt", "")).split()), str(el.get("src", ""))
        if "a" in parent_tags:
            return alt
        return f"![{alt}]({src})" if alt and src and not src.startswith("data:") else ""

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        bullet = f"{el['value']}. " if "value" in el.attrs else "- "  # see `_number_items`
        return f"{bullet}{indent(text.strip(), ' ' * len(bullet)).lstrip()}\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        code = re.sub(r"^[ \n]*\n", "", text).rstrip()
        longest = max(map(len, re.findall("^`{3,}", code, re.MULTILINE)), default=2)
        fence = "`" * (longest + 1)
        return f"\n\n{fence}{el.get('data-lang', '')}\n{code}\n{fence}\n\n" if code else ""

    def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _raised("^", text)

    def convert_sub(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _raised("_", text) if "+" in text else text

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return " " + " ".join(text.split()).replace("|", r"\|") + " |"

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if "columns" not in el.attrs:  # see `_flatten_tables`
            return f"|{text}\n"
        columns = int(str(el["columns"]))
        rule = f"| {' | '.join(['---'] * columns)} |\n"
        if all(cell.name == "th" for cell in el.find_all(recursive=False)):
            return f"|{text}\n{rule}"
        return f"| {' | '.join([''] * columns)} |\n{rule}|{text}\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        tex = el.find("annotation", encoding="application/x-tex")
        found = tex.get_text() if tex else str(el.get("alttext", ""))
        return f"${found.strip()}$" if found else text.removesuffix("; ")

    def convert_mfrac(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "/".join(part.get_text() for part in el.find_all(recursive=False))

    def convert_msup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "^".join(part.get_text() for part in el.find_all(recursive=False))

    def convert_msqrt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"sqrt({text})"

    def convert_mtd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text + (" " if el.find_next_sibling("mtd") else "; ")


class PlainText(Markdown):
    """The words, with the blocks apart."""

    class Options(Markdown.Options):
        escape_asterisks = False
        strip = INLINE - {"br", "img", "math"}

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802
        return f"\n\n{text.strip()}\n\n"

    convert_blockquote = convert_pre = convert_div = lambda self, el, text, parent_tags: (
        f"\n\n{text.strip()}\n\n"
    )

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{text.strip()}\n"

    convert_dd = convert_dt = convert_li

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return str(el.get("alt", ""))

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return " ".join(text.split()) + "\t"

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{text.strip()}\n"


def to_text(root: Element, url: str, site: str, *, plain: bool = False) -> str:
    """An element as Markdown, its links absolute or, within `site`, from the root of the site."""
    _resolve_links(root, url, site)
    _number_items(root)
    _flatten_code(root)
    _flatten_tables(root)
    converter, text = PlainText() if plain else Markdown(), ""
    builder = _Builder(multi_valued_attributes={})
    for part, is_next_row in _parts(root):
        soup = BeautifulSoup(part, builder=builder, element_classes={Tag: _Tag})
        converted = converter.convert_soup(soup).strip("\n")
        text = f"{text}\n{'' if is_next_row else chr(10)}{converted}" if converted else text
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _parts(root: Element) -> Iterator[tuple[Element, bool]]:
    """An element in parts that are converted one by one, and whether each goes on with the rows
    of the last.
    """
    part, size = root.makeelement(root.tag), 0
    part.text, is_next_row = root.text, False
    for child in list(root):
        count = sum(1 for _ in child.iter())
        is_large = count > MAX_PART and child.tag in DIVIDED
        if is_large or (size + count > MAX_PART and child.tag not in INLINE):
            yield part, is_next_row
            part, size, is_next_row = root.makeelement(root.tag), 0, root.tag in ROWS
        if is_large:
            part.text, child.tail = child.tail, None
            yield from _parts(child)
        else:
            part.append(child)
            size += count
    yield part, is_next_row


def _raised(sign: str, text: str) -> str:
    text = text.strip()
    if EXPONENT.fullmatch(text):
        return sign + text
    return f"{sign}({text})" if "+" in text and text not in ORDINAL else text


def _resolve_links(root: Element, url: str, site: str) -> None:
    for el in root.iter("a", "img"):
        name = "href" if el.tag == "a" else "src"
        link = el.get(name, "").strip()
        if el.tag == "img" and (not link or link.startswith("data:")):
            late = el.get("data-src") or el.get("srcset") or el.get("data-srcset") or ""
            link = late.partition(" ")[0]
        if link and not link.startswith(("#", "data:", "javascript:")):
            try:
                link = urljoin(url, link).replace(" ", "%20")
            except ValueError:
                link = ""
            if site and link.startswith(site):
                link = link[len(site) - 1 :]
        el.set(name, link)


def _number_items(root: Element) -> None:
    for list_ in root.iter("ol"):
        start = list_.get("start", "")
        first = int(start) if start.isdecimal() else 1
        for number, item in enumerate(list_.iterchildren("li"), first):
            item.set("value", str(number))


def _flatten_code(root: Element) -> None:
    """Colours of code go, and where a site makes each line an element, lines stay lines."""
    for pre in root.iter("pre"):
        for el in list(pre.iter("br", "div", "p", "li", "tr", "table", "ol", "ul")):
            if el.tag == "br" or not (el.text_content() or "\n").endswith("\n"):
                el.tail = "\n" + (el.tail or "")
            el.drop_tag()
        if language := _language(pre):
            pre.set("data-lang", language)
        etree.strip_tags(pre, *INLINE - {"img", "math", "sub", "sup"})


def _language(pre: Element) -> str:
    for el in (*list(pre.iter("code"))[:1], pre, *list(pre.iterancestors())[:2]):
        found = LANGUAGE.search(el.get("class", ""))
        name = el.get("data-lang") or (next(filter(None, found.groups())) if found else "")
        if name and name not in NO_LANGUAGES:
            return name
    return ""


def _flatten_tables(root: Element) -> None:
    """Tables that only lay out a page become blocks; in others spans are filled, and the first row
    knows the number of its columns.
    """
    for table in reversed(list(root.iter("table"))):
        rows, cells = list(table.iter("tr")), list(table.iter("td", "th"))
        has_blocks = next(table.iterdescendants("p", *BLOCKS), None) is not None
        if len(cells) <= len(rows) or (has_blocks and any(map(_has_blocks, cells))):
            for el in list(table.iter("table", "tbody", "thead", "tr", "td", "th")):
                el.tag = "div"
            continue
        if rows[0].getprevious() is None:
            rows[0].set("columns", str(len(rows[0])))
        head = rows[0].getparent()
        if head.tag == "thead" and len(head.findall("tr")) == 1:
            for cell in rows[0]:
                cell.tag = "th"
        if table.find(".//*[@rowspan]") is not None:
            _fill_spans(rows)


def _has_blocks(cell: Element) -> bool:
    """More than one paragraph, or one in a block of its own, is one, too."""
    return next(cell.iter(*BLOCKS), None) is not None or any(
        el.getparent().tag == "div" or next(el.itersiblings("p", preceding=True), None) is not None
        for el in cell.iter("p")
    )


def _fill_spans(rows: list[Element]) -> None:
    """A cell over several rows is repeated in each of its group, one over columns stands once."""
    copies, size = MAX_COPIES, MAX_COPIED
    for at, row in enumerate(rows):
        for column, cell in enumerate(list(row)):
            span = cell.attrib.pop("rowspan", "1")
            count = int(span) if span.isascii() and span.isdigit() and len(span) < 6 else 1
            for below in rows[at + 1 : at + count if count else len(rows)]:
                if below.getparent() is not row.getparent() or copies <= 0 or size <= 0:
                    break
                below.insert(column, deepcopy(cell))
                copies, size = copies - 1, size - len(cell.text_content())
