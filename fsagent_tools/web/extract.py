"""The element of an HTML page that holds its content, without what stands around it.

The order: what nobody sees goes. A main element is kept whole. Without one, and where the page says
that it is an article, headers, footers and what a class names as a menu, teaser or the like go. Of
the rest, unless a generator of manuals wrote it, the story is the smallest element with most of the
running text. Shares and lengths were measured on some 1,000 pages of news, manuals and forums.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree, html
from lxml.html import HtmlElement as Element

HIDDEN_TAGS = {
    "audio", "button", "canvas", "datalist", "dialog", "embed", "iframe", "input",
    "nav", "noscript", "object", "script", "select", "style", "svg", "template", "textarea",
    "title", "video",
}  # fmt: skip
HIDDEN_ROLES = {
    "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog",
}  # fmt: skip
INLINE = {
    "a", "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "img", "ins",
    "kbd", "mark", "math", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time",
    "tt", "u", "var", "wbr",
}  # fmt: skip
STORY_TAGS = {"article", "body", "center", "div", "main", "section", "td"}
NEVER_CHROME = {
    "article", "body", "html", "h1", "h2", "h3", "h4", "main", "pre", "tbody", "td", "tr",
    *INLINE,
}  # fmt: skip
CHROME = re.compile(
    r"(?:^|[\s_-])(?:(?:site|top|main|sub|global|page)?(?:nav|menu|footer|masthead|sidebar)"
    r"|breadcrumbs?|related|recommend(?:ed|ations)?|shar(?:e|ing)|social|cookies?|consent|banner"
    r"|newsletter|subscribe|promos?|sponsor(?:ed)?|advert\w*|ads?|trending|popular|pagination|pager"
    r"|popup|modal|toolbar|disqus|comments?|outbrain|taboola|skip|widget|tags|teasers?"
    r"|nav(?:bar|igation|header|footer))(?:$|[\s_-])",
    re.IGNORECASE,
)
MANUAL_GENERATORS = re.compile(
    "doxygen|mediawiki|docbook|asciidoc|docutils|sphinx|texi2|makeinfo|javadoc|mkdocs|pandoc", re.I
)
LINE_NUMBERS = re.compile(r"lineno|gutter|line-?number|blob-num|^ln$")
REFRESH = re.compile(r"\s*[0-5](?:\.\d+)?\s*[;,]\s*url\s*=\s*['\"]?([^'\"]{1,2000})", re.IGNORECASE)
ATTRIBUTES = {
    "alt", "alttext", "aria-hidden", "aria-labelledby", "checked", "class", "content",
    "data-lang", "data-src", "data-srcset", "encoding", "hidden", "href", "http-equiv", "id",
    "name", "property", "role", "rowspan", "src", "srcset", "start", "style", "title", "type",
}  # fmt: skip
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_LEVELS = 150  # of elements: the converter calls itself for each level
RUNNING_TEXT = 120  # bytes outside links from which on a block is running text
MAX_LISTING = 1000  # bytes of code that count: a long listing is no story
MIN_STORY = 400  # bytes of running text from which on a page has a story
STORY_SHARE = 0.7  # of the running text that a story has
MENU_SHARE = 0.73  # of a block's words that are links, from which on it is a menu
SMALL_SHARE = 0.25  # of a page's words, up to which chrome goes although little else is there
LEAD_BLOCKS = 12  # paragraphs at most between a story's heading and the story


@dataclass
class Content:
    """refresh: where the page sends its reader, "" for nowhere. base: what its links start from."""

    title: str
    element: Element
    refresh: str = ""
    base: str = ""


class Weights(defaultdict[Element, list[int]]):
    """Of each element the bytes of its words, of those in links, and of its running text.

    Two more columns are those of a block whose end has not come yet: all words, and links.
    """

    def __init__(self, root: Element) -> None:
        super().__init__(lambda: [0, 0, 0, 0, 0])
        for el in reversed(list(root.iter(etree.Element))):  # the inner before the outer
            words, linked, running, line, links = self[el]
            own = _size(el.text)
            words, line = words + own, line + own
            if el.tag == "a":
                linked, links = words, line
            if el.tag not in INLINE:
                if line - links >= max(links, 1 if el.tag in ("pre", "td") else RUNNING_TEXT):
                    running += min(line - links, MAX_LISTING) if el.tag == "pre" else line - links
                line = links = 0
            self[el][:3] = words, linked, running
            if el is not root:
                outer, tail = self[el.getparent()], _size(el.tail)
                for at, more in enumerate((words + tail, linked, running, line + tail, links)):
                    outer[at] += more

    def prose(self, el: Element) -> int:
        return self[el][0] - self[el][1]


def content(source: str, *, scriptless: bool = False) -> Content:
    """What a page is read for.

    Args:
        scriptless: Keep what the page has for readers without scripts.
    """
    root = _parse(source)
    found = Content(" ".join((root.findtext(".//title") or "").split()), root)
    found.base = next(filter(None, (el.get("href") for el in root.iter("base"))), "")
    is_manual = is_article = False
    for el in root.iter("meta"):
        name, said = el.get("name") or el.get("property", ""), el.get("content", "")
        is_manual |= name.lower() == "generator" and bool(MANUAL_GENERATORS.search(said))
        is_article |= name.startswith("article:") or (name, said) == ("og:type", "article")
        if el.get("http-equiv", "").lower() == "refresh" and (to := REFRESH.match(said)):
            found.refresh = found.refresh or to[1].strip()
    _replace_widgets(root)
    _drop(el for el in list(root.iter(etree.Element)) if _is_unseen(el, scriptless))
    weights = Weights(root)
    mains = [el for el in root.iter(etree.Element) if "main" in (el.tag, el.get("role"))]
    main = max(mains, key=lambda el: weights[el][0], default=root)
    if weights[main][0] < 60 and main.find(".//h1") is None and weights.prose(root) > 600:
        main = root  # it says "Loading"
    found.element = main
    if main is root or is_article:
        _drop(_chrome(main, weights))
        if not is_manual:
            found.element = _story_with_heading(main, found.title)
    return found


def _parse(source: str) -> Element:
    source = source.translate(dict.fromkeys(range(9)))
    text = source if re.search(r"<\w", source) else "<p>" + source
    parser = etree.HTMLParser(target=_Builder(), encoding="utf-8", huge_tree=True)
    return etree.fromstring(text.encode("utf-8", "replace"), parser)


class _Builder:
    """Builds a tree without the tags below `MAX_LEVELS` and attributes that nobody asks for.

    The parser's own tree loses what lies below 2,048 levels, and takes 25 s for 100,000 attributes.
    """

    def __init__(self) -> None:
        self._tree, self._open = etree.TreeBuilder(element_factory=html.Element), list[str]()
        self._tree.start("div", {})  # as some pages have several roots

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "template" and any(name.startswith("shadowrootmode") for name in attributes):
            tag = "div"  # it is shown in place of the element around it
        self._open.append(tag if tag.isascii() and tag.isalnum() else "div")  # `ahref="`, `x-card`
        if len(self._open) <= MAX_LEVELS:
            names = ATTRIBUTES.intersection(attributes)
            kept = {name: NOT_XML.sub("", attributes[name]) for name in sorted(names)}
            self._tree.start(self._open[-1], kept)

    def end(self, _: str) -> None:
        if len(self._open) <= MAX_LEVELS:
            self._tree.end(self._open[-1])
        self._open.pop()

    def data(self, text: str) -> None:
        self._tree.data(NOT_XML.sub("", text))

    def close(self) -> Element:
        self._tree.end("div")
        return self._tree.close()


def _size(text: str | None) -> int:
    return len(text.strip().encode("utf-8", "replace")) if text else 0


def _replace_widgets(root: Element) -> None:
    """Boxes of tasks become signs, formulas text, what only a browser plays a link; and panels of
    tabs are named by their tabs.
    """
    tabs = {el.get("id"): el.text_content() for el in root.iterfind(".//*[@role='tab']")}
    for panel in root.iterfind(".//*[@role='tabpanel']"):
        if name := tabs.get(panel.get("aria-labelledby")):
            panel.insert(0, html.fromstring("<p><b></b></p>"))
            panel[0][0].text, panel[0].tail, panel.text = name, panel.text, None
    for script in list(root.iter("script")):
        if script.get("type", "").startswith("math/tex"):
            script.tag, script.text = "span", f"${(script.text or '').strip()}$"
    for box in root.iterfind(".//li//input[@type='checkbox']"):
        box.tail = f"[{'x' if 'checked' in box.attrib else ' '}] {(box.tail or '').lstrip()}"
    for el in list(root.iter("iframe", "frame", "embed", "video", "audio")):
        inner = el.find(".//source")
        link = el.get("data-src") or el.get("src") or (inner is not None and inner.get("src")) or ""
        if link and not link.startswith(("about:", "data:", "javascript:")) and not _in_hidden(el):
            block = html.fromstring("<p><a></a></p>")
            name = {"iframe": "embedded page", "frame": "frame"}.get(el.tag, "media")
            block[0].text = el.get("title") or name
            block[0].set("href", link)
            el.addprevious(block)
        if el.tag == "embed":  # it has no end tag, so what follows lies in it
            el.drop_tag()


def _in_hidden(el: Element) -> bool:
    return any(_is_unseen(outer, scriptless=False) for outer in el.iterancestors())


def _is_unseen(el: Element, scriptless: bool) -> bool:
    if el.get("role") == "tabpanel":
        return False
    return (
        (el.tag in HIDDEN_TAGS and not (scriptless and el.tag == "noscript"))
        or (el.tag == "form" and el.find(".//p") is None)
        or el.get("hidden", "until-found") != "until-found"
        or el.get("aria-hidden") == "true"
        or el.get("role") in HIDDEN_ROLES
        or "display:none" in el.get("style", "").replace(" ", "").lower()
        or bool(
            LINE_NUMBERS.search(el.get("class", "")[:300])
            and re.fullmatch(r"[\d\s]*", el.text_content())
        )
    )


def _drop(elements: Iterable[Element]) -> None:
    for el in elements:
        if el.getparent() is not None:
            el.drop_tree()


def _chrome(root: Element, weights: Weights) -> list[Element]:
    """Headers, footers, and what a class names as chrome, where enough is left without it."""
    prose, named, gone = weights.prose(root) or 1, dict[Element, float](), list[Element]()
    inside = {root} if root.tag == "main" else set()  # what is in an article or a main element
    for el in root.iterdescendants(etree.Element):
        share = weights.prose(el) / prose
        is_inner = el.getparent() in inside
        if is_inner or el.tag in ("article", "main"):
            inside.add(el)
        if el.tag == "aside" and is_inner:
            if 2 * weights[el][1] >= weights[el][0]:
                gone.append(el)
        elif el.tag in ("header", "footer", "aside") and not is_inner:
            if el.tag != "header" or share <= 0.5:
                gone.append(el)
        elif el.tag not in NEVER_CHROME and share <= 0.9:
            names = f"{el.get('class', '')} {el.get('id', '')}"[:300]
            if CHROME.search(names) and not any(outer in named for outer in el.iterancestors()):
                named[el] = share
    running = weights[root][2]
    if running - sum(weights[el][2] for el in named) < max(MIN_STORY, running / 10):
        menus = {el: share for el, share in named.items() if 2 * weights[el][1] >= weights[el][0]}
        named = {el: share for el, share in named.items() if share <= SMALL_SHARE}
        if sum(named.values()) > 0.5:  # the posts of a discussion
            named = {}
        named |= menus
    return gone + list(named)


def _story_with_heading(root: Element, title: str) -> Element:
    weights = Weights(root)
    story = _story(root, weights)
    lead = _lead(root, story, title, weights)
    if weights[story][2] >= MIN_STORY:
        blocks = story.iterdescendants("div", "dl", "li", "ol", "p", "section", "table", "ul")
        _drop([el for el in blocks if 0 < MENU_SHARE * weights[el][0] <= weights[el][1]])
    for el in reversed(lead):
        el.tail, story.text = story.text, None
        story.insert(0, el)
    return story


def _story(root: Element, weights: Weights) -> Element:
    """The smallest element with most of the running text, or what holds others of its name."""
    total, found = weights[root][2], root
    if total < MIN_STORY:
        return root
    while parts := [el for el in found if weights[el][2] >= STORY_SHARE * total]:
        found = parts[0]
    while found.tag not in STORY_TAGS and found is not root:
        found = found.getparent()
    alike = [
        el
        for el in root.iter(found.tag)
        if weights[el][2] > total / 20
        and (el.tag in ("article", "section") or el.get("class") == found.get("class"))
    ]
    if alike:
        last, found = {alike[-1], *alike[-1].iterancestors()}, alike[0]
        while found not in last:
            found = found.getparent()
    return found


def _lead(root: Element, story: Element, title: str, weights: Weights) -> list[Element]:
    """The heading that stands before a story, and the paragraphs between them, up to 12.

    It has to be in the page's title, where there is one.
    """
    heading, outer = next(root.iter("h1"), None), {story, *story.iterancestors()}
    if heading is None or heading in outer or heading in story.iter("h1"):
        return []
    if title and _letters(heading.text_content()) not in _letters(title):
        return []
    blocks, is_after = list[Element](), False
    for el in root.iter(etree.Element):
        if el is story:
            break
        is_leaf = el.tag not in INLINE and all(part.tag in INLINE for part in el)
        is_prose = weights.prose(el) >= max(50, weights[el][1])
        if is_after and is_leaf and is_prose and el not in outer:
            blocks.append(el)
        is_after |= el is heading
    return [heading, *(blocks if len(blocks) <= LEAD_BLOCKS else [])]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
