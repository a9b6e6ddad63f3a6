"""An HTML page's own content: parsed by lxml, without chrome, scripts and what is hidden."""

import re
from collections.abc import Iterator
from typing import Any

from fsagent_tools.errors import MissingDependency
from fsagent_tools.web.clock import Clock

NEVER = {
    "script", "style", "template", "svg", "iframe", "object", "embed", "noscript", "button", "nav",
    "canvas", "audio", "video", "select", "input", "textarea", "head", "dialog", "datalist",
}  # fmt: skip
CHROME = {"header", "footer", "aside"}
CHROME_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search"}
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


def parse(source: str, url: str) -> Any:
    """The root element with absolute links, or None for a page without any element.

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
    root.make_links_absolute(url, handle_failures="ignore")
    return root


def title(root: Any) -> str:
    return str(root.xpath("normalize-space((//title|//h1)[1])"))


def main(root: Any, clock: Clock) -> Any:
    """The element that holds the content, pruned in place."""
    body = root.find("body")
    if body is None:
        body = root
    _drop(body, NEVER, clock)
    found = [el for el in body.xpath("//main|//*[@role='main']") if _size(el)]
    if found:
        return max(found, key=_size)
    _drop(body, CHROME, clock)
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
    """Remove what is not content beneath `root`; text that follows a removed element stays."""
    for el in list(root.iterdescendants()):
        clock.check()
        if el.getparent() is None or not isinstance(el.tag, str):
            continue
        if el.tag in tags or _hidden(el) or (tags is CHROME and el.get("role") in CHROME_ROLES):
            el.drop_tree()
        elif el.tag == "form":
            _form(el)
        elif el.tag == "a":
            _link(el)
        elif el.tag == "img":
            _image(el)
        elif el.tag == "pre":
            _code(el)


def _hidden(el: Any) -> bool:
    return (
        "hidden" in el.attrib
        or el.get("aria-hidden") == "true"
        or bool(HIDDEN.search(el.get("style", "")))
        or bool(GUTTER & set(el.get("class", "").split()))
    )


def _form(el: Any) -> None:
    """Some sites wrap the whole page in one form, and that one is kept."""
    if el.find(".//p") is None and el.find(".//h1") is None:
        el.drop_tree()
    else:
        el.drop_tag()


def _link(el: Any) -> None:
    href = el.get("href", "")
    if _words(el).lower() in ANCHORS and "#" in href and el.find(".//img") is None:
        el.drop_tree()
    elif not href.startswith(("http://", "https://", "mailto:")):
        el.drop_tag()


def _image(el: Any) -> None:
    if not el.get("alt", "").strip() or not el.get("src", "").startswith(("http://", "https://")):
        el.drop_tree()


def _code(el: Any) -> None:
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
