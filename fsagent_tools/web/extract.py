"""The element of an HTML page that holds its content, without what stands around it.

The order: what nobody sees goes. A main element is kept whole. Without one, and where the page says
that it is an article, headers, footers and what a class names as a menu, teaser or the like go. Of
the rest, unless a generator of manuals wrote it, the story is the smallest element with most of the
running text. Shares and lengths were measured on some 1,000 pages of news, manuals and forums.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree, html
from lxml.html import HtmlElement as Element

HIDDEN_TAGS = {
    "button", "canvas", "datalist", "dialog", "nav", "noscript", "object", "select", "style",
    "svg", "template", "textarea", "title",
}  # fmt: skip
WIDGETS = {"audio", "embed", "frame", "iframe", "input", "script", "video"}  # some become text
HIDDEN_ROLES = {
    "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog",
}  # fmt: skip
HIDING = {"aria-hidden", "class", "hidden", "role", "style"}  # attributes
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
INLINE = {
    "a", "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "img", "ins",
    "kbd", "mark", "math", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time",
    "tt", "u", "var", "wbr",
}  # fmt: skip
STORY_TAGS = {"article", "body", "center", "div", "main", "section", "td"}
NEVER_CHROME = {"article", "body", "h1", "h2", "h3", "h4", "html", "main", "pre", "tbody", "td",
                "tr", *INLINE}  # fmt: skip
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
UNPLAYED = ("about:", "data:", "javascript:")
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


class Weights(dict[Element, tuple[int, int, int]]):
    """Of each element the bytes of its words, of those in links, and of its running text.

    Inline elements count for what is around them, and have an entry only where they hold blocks.
    """

    def __init__(self, root: Element) -> None:
        super().__init__()
        open_elements = [[0, 0, 0, 0, 0]]  # with the words and links since a block last ended
        for event, el in etree.iterwalk(root, events=("start", "end")):
            if event == "start":
                size = _size(el.text)
                open_elements.append([size, 0, 0, size, 0])
                continue
            words, linked, running, line, links = open_elements.pop()
            if el.tag == "a":
                linked, links = words, line
            if el.tag not in INLINE:
                if line - links >= max(links, 1 if el.tag in ("pre", "td") else RUNNING_TEXT):
                    running += min(line - links, MAX_LISTING) if el.tag == "pre" else line - links
                line = links = 0
            if running or el.tag not in INLINE:
                self[el] = words, linked, running
            outer, tail = open_elements[-1], _size(el.tail)
            for at, more in enumerate((words + tail, linked, running, line + tail, links)):
                outer[at] += more

    def __missing__(self, el: Element) -> tuple[int, int, int]:
        return 0, 0, 0

    def prose(self, el: Element) -> int:
        return self[el][0] - self[el][1]

    def is_linked(self, el: Element, share: float = 0.5) -> bool:
        """Whether this share of its words is links."""
        return self[el][1] >= share * self[el][0]


def content(source: str, *, scriptless: bool = False) -> Content:
    """What a page is read for.

    Args:
        scriptless: Keep what the page has for readers without scripts.
    """
    builder = _Builder()
    parser = etree.HTMLParser(target=builder, encoding="utf-8", huge_tree=True)
    source = source.translate(dict.fromkeys(range(9)))
    source = source if re.search(r"<\w", source) else "<p>" + source
    root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    found = Content(" ".join((root.findtext(".//title") or "").split()), root)
    found.base = next(filter(None, (el.get("href") for el in root.iter("base"))), "")
    is_manual = is_article = False
    for el in root.iter("meta"):
        name, said = el.get("name") or el.get("property", ""), el.get("content", "")
        is_manual |= name.lower() == "generator" and bool(MANUAL_GENERATORS.search(said))
        is_article |= name.startswith("article:") or (name, said) == ("og:type", "article")
        if el.get("http-equiv", "").lower() == "refresh" and (to := REFRESH.match(said)):
            found.refresh = found.refresh or to[1].strip()
    tabs = {el.get("id"): el.text_content() for el in root.iterfind(".//*[@role='tab']")}
    _drop(el for el in builder.suspects if _is_hidden(el, scriptless))
    _replace_widgets(root, tabs)
    mains = root.xpath("//main | //*[@role='main']")
    main = max(mains, key=_length, default=root)
    is_waiting = main is not root and _length(main) < 60 and main.find(".//h1") is None
    if is_waiting and Weights(root).prose(root) > 600:
        main = root  # it says "Loading"
    found.element = main
    if main is root or is_article:
        _drop(_chrome(main, Weights(main)))
        if not is_manual:
            found.element = _story_with_heading(main, found.title)
    return found


class _Builder:
    """Builds a tree without the tags below `MAX_LEVELS` and attributes that nobody asks for.

    The parser's own tree loses what lies below 2,048 levels, and takes 25 s for 100,000 attributes.
    """

    def __init__(self) -> None:
        self.suspects = list[Element]()  # that may be hidden
        self._tree, self._open = etree.TreeBuilder(element_factory=html.Element), list[str]()
        self._tree.start("div", {})  # as some pages have several roots

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "template" and any(name.startswith("shadowrootmode") for name in attributes):
            tag = "div"  # it is shown in place of the element around it
        self._open.append(tag if tag.isascii() and tag.isalnum() else "div")  # `ahref="`, `x-card`
        if len(self._open) <= MAX_LEVELS:
            names = ATTRIBUTES.intersection(attributes) if attributes else ()
            kept = {name: NOT_XML.sub("", attributes[name]) for name in sorted(names)}
            el = self._tree.start(self._open[-1], kept)
            if tag in HIDDEN_TAGS or tag == "form" or not HIDING.isdisjoint(kept):
                self.suspects.append(el)

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


def _length(el: Element) -> int:
    return sum(map(_size, el.itertext()))


def _replace_widgets(root: Element, tabs: dict[str | None, str]) -> None:
    """Boxes of tasks become signs, formulas text, what only a browser plays a link; and panels of
    tabs are named by their tabs.
    """
    for panel in root.iterfind(".//*[@role='tabpanel']"):
        if name := tabs.get(panel.get("aria-labelledby")):
            panel.insert(0, html.fromstring("<p><b></b></p>"))
            panel[0][0].text, panel[0].tail, panel.text = name, panel.text, None
    for el in list(root.iter(*WIDGETS)):
        if el.tag == "script" and el.get("type", "").startswith("math/tex"):
            el.tag, el.text = "span", f"${(el.text or '').strip()}$"
            continue
        if el.tag == "input" and el.get("type") == "checkbox" and _is_within(el, {"li"}):
            el.tail = f"[{'x' if 'checked' in el.attrib else ' '}] {(el.tail or '').lstrip()}"
        source = next(el.iter("source"), el)
        link = el.get("data-src") or el.get("src") or source.get("src") or "data:"
        if el.tag not in ("input", "script") and not link.startswith(UNPLAYED):
            block = html.fromstring("<p><a></a></p>")
            name = {"iframe": "embedded page", "frame": "frame"}.get(el.tag, "media")
            block[0].text = el.get("title") or name
            block[0].set("href", link)
            el.addprevious(block)
        if el.tag == "embed":  # it has no end tag, so what follows lies in it
            el.drop_tag()
        else:
            _drop([el])


def _is_within(el: Element, tags: set[str]) -> bool:
    return any(outer.tag in tags for outer in el.iterancestors())


def _is_hidden(el: Element, scriptless: bool) -> bool:
    if el.get("role") == "tabpanel" or el.tag in WIDGETS:
        return False
    return (
        (el.tag in HIDDEN_TAGS and not (scriptless and el.tag == "noscript"))
        or (el.tag == "form" and el.find(".//p") is None)
        or el.get("hidden", "until-found") != "until-found"
        or el.get("aria-hidden") == "true"
        or el.get("role") in HIDDEN_ROLES
        or bool(HIDDEN_STYLE.search(el.get("style", "")))
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
    for el in [el for el in root.iterdescendants() if el.tag not in INLINE]:
        share, is_edge = weights.prose(el) / prose, el.tag in ("header", "footer", "aside")
        is_inner = is_edge and _is_within(el, {"article", "main"})
        if el.tag == "aside" and is_inner:
            if weights.is_linked(el):
                gone.append(el)
        elif is_edge and not is_inner:
            if el.tag != "header" or share <= 0.5:
                gone.append(el)
        elif el.tag not in NEVER_CHROME and share <= 0.9:
            names = f"{el.get('class', '')} {el.get('id', '')}"[:300]
            if CHROME.search(names) and not any(outer in named for outer in el.iterancestors()):
                named[el] = share
    running = weights[root][2]
    if running - sum(weights[el][2] for el in named) < max(MIN_STORY, running / 10):
        menus = {el: share for el, share in named.items() if weights.is_linked(el)}
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
        _drop([el for el in blocks if weights[el][0] and weights.is_linked(el, MENU_SHARE)])
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
    for el in root.iter():
        if el is story:
            break
        if is_after and el.tag not in INLINE and el not in outer:
            is_prose = weights.prose(el) >= max(50, weights[el][1])
            if is_prose and all(part.tag in INLINE for part in el):
                blocks.append(el)
        is_after |= el is heading
    return [heading, *(blocks if len(blocks) <= LEAD_BLOCKS else [])]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
