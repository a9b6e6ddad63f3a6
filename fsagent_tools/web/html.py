"""An HTML page's own content: parsed by lxml, without chrome, scripts and what is hidden."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from fsagent_tools.errors import MissingDependency
from fsagent_tools.web.clock import Clock

NEVER = {
    "script", "style", "template", "svg", "iframe", "object", "embed", "noscript", "button", "nav",
    "canvas", "audio", "video", "select", "input", "textarea", "title", "dialog", "datalist",
}  # fmt: skip
CHROME_TAGS = ("header", "footer", "aside")
CHROME_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search")
CHROME = "|".join(  # an article's own header holds its heading
    [f".//{tag}[not(ancestor::article)]" for tag in CHROME_TAGS]
    + [f".//*[@role='{role}']" for role in CHROME_ROLES]
)
BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tr", "ul",
}  # fmt: skip
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
ANCHORS = {"", "#", "¶", "§", "🔗", "link", "permalink"}  # what a heading's link to itself shows
LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)-?\s*([\w+#.-]+)"
)
NOT_LANGUAGES = {"none", "default", "plaintext", "text", "wrapper", "container", "highlight"}
GUTTER = {"linenos", "lineno", "line-numbers-rows", "gutter", "highlight-line-numbers"}
ARTICLE_SHARE = 0.4  # of the page's text that a lone <article> must hold to stand for the page
TAGS = re.compile(r"<[^<>]*>|<!--+")
BLANKS = re.compile(r"\s{200,}")  # such a run costs the converter's patterns quadratic time


def parse(source: str) -> Any:
    """The root element, or None for a page without any element.

    Raises `MissingDependency` without lxml.
    """
    try:
        from lxml import etree, html
    except ImportError:
        raise MissingDependency(
            "Reading HTML needs lxml.",
            hint="pip install 'fsagent-tools[web]', or fetch with format='html'.",
        ) from None
    parser = html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    utf8 = BLANKS.sub("\n", source.replace("\0", "")).encode("utf-8", "replace")
    try:
        root = html.document_fromstring(utf8, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


def title(root: Any) -> str:
    return str(root.xpath("normalize-space((//title|//h1)[1])"))


def main(root: Any, url: str, clock: Clock) -> Any:
    """The element that holds the content, pruned in place, with absolute links."""
    body = root.find("body")
    if body is None:
        body = root
    base = _absolute(str(root.xpath("string(//base/@href)")), url) or url
    _drop(body, NEVER, clock)
    _tidy(body, base, clock)
    found = [el for el in body.xpath("//main|//*[@role='main']") if _size(el)]
    if found:
        return max(found, key=_size)
    for el in body.xpath(CHROME):
        clock.check()
        if el.getparent() is not None:
            el.drop_tree()
    articles = body.xpath("//article")
    lone = len(articles) == 1 and _size(articles[0]) >= ARTICLE_SHARE * _size(body)
    return articles[0] if lone else body


def text(root: Any, clock: Clock) -> str:
    """The words of an element, blocks on lines of their own; any depth of nesting."""
    from lxml import etree

    parts: list[str] = []
    preformatted = 0
    for event, el in etree.iterwalk(root, events=("start", "end")):
        clock.check()
        start = event == "start"
        preformatted += (el.tag == "pre") * (1 if start else -1)
        if el.tag in BLOCKS or (start and el.tag == "br"):
            parts.append("\n")
        elif el.tag in ("td", "th") and not start:
            parts.append("\t")
        said = el.text if start else el.tail if el is not root else None
        if said:
            parts.append(said if preformatted else re.sub(r"\s+", " ", said))
    lines = (
        line.rstrip() if line.startswith((" ", "\t")) else line.strip()
        for line in "".join(parts).split("\n")
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def stripped(source: str) -> str:
    """What is left of a page that no parser makes sense of, without its tags."""
    from html import unescape

    lines = (line.strip() for line in unescape(TAGS.sub(" ", source)).split("\n"))
    return "\n".join(filter(None, lines))


def _size(el: Any) -> float:
    return float(el.xpath("string-length(normalize-space(.))"))


def _drop(root: Any, tags: set[str], clock: Clock) -> None:
    """Remove `tags` beneath `root`; text that follows a removed element stays."""
    from lxml import etree

    clock.check()
    etree.strip_elements(root, *tags, with_tail=False)


def _tidy(root: Any, base: str, clock: Clock) -> None:
    """Remove what is hidden, make links absolute, note the language of code."""
    for path, change in CHANGES.items():
        for el in root.xpath(path):
            clock.check()
            if el.getparent() is not None:
                change(el, base)


def _hide(el: Any, _base: str) -> None:
    shown = not HIDDEN.search(el.get("style", "")) and el.get("aria-hidden") != "true"
    if "hidden" in el.attrib or not shown or GUTTER & set(el.get("class", "").split()):
        el.drop_tree()


def _form(el: Any, _base: str) -> None:
    """Some sites wrap the whole page in one form, and that one is kept."""
    if el.find(".//p") is None and el.find(".//h1") is None:
        el.drop_tree()
    else:
        el.drop_tag()


def _link(el: Any, base: str) -> None:
    href = _absolute(el.get("href", ""), base)
    if "#" in href and _words(el).lower() in ANCHORS and el.find(".//img") is None:
        el.drop_tree()
    elif href.startswith(("http://", "https://", "mailto:")):
        el.set("href", href)
    else:
        el.drop_tag()


def _image(el: Any, base: str) -> None:
    source = _absolute(el.get("src", ""), base)
    if el.get("alt", "").strip() and source.startswith(("http://", "https://")):
        el.set("src", source)
    else:
        el.drop_tree()


def _absolute(link: str, base: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""


def _code(el: Any, _base: str) -> None:
    """Note the language where the converter looks for it, from the usual class names around it."""
    for near in (el, *el.iterchildren("code"), *_parents(el, 2)):
        for found in LANGUAGE.findall(near.get("class", "").replace("brush: ", "brush:")):
            if found not in NOT_LANGUAGES:
                el.set("data-language", found)
                return


def _parents(el: Any, count: int) -> Iterator[Any]:
    for _, parent in zip(range(count), el.iterancestors(), strict=False):
        yield parent


def _words(el: Any) -> str:
    return "".join(el.itertext()).strip()


CHANGES = {  # xpath -> what is done to each element it finds
    ".//*[@hidden or @aria-hidden or @style or contains(@class, 'line') or @class='gutter']": _hide,
    ".//form": _form,
    ".//a": _link,
    ".//img": _image,
    ".//pre": _code,
}
