"""Elements of a page that nobody sees, by their attributes."""

import re
from collections.abc import Mapping
from functools import lru_cache

from fsagent_tools.web.tabs import TAB, tab_part

HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
GUTTER = {
    "ln", "lnt", "linenos", "lineno", "line-numbers-rows", "gutter", "highlight-line-numbers",
    "line-number", "lineNumber", "linenumber", "react-syntax-highlighter-line-number",
}  # fmt: skip
FOUND = "until-found"  # a hidden element that a search opens
MAY_HIDE = frozenset({"role", "for", "hidden", "aria-hidden", "style"})  # attributes that may hide


def unseen(tag: str, attributes: Mapping[str, str]) -> bool:
    if "class" in attributes and _is_gutter(tag, attributes["class"]):
        return attributes.get("role") != "tabpanel"
    if MAY_HIDE.isdisjoint(attributes):
        return False
    if part := tab_part(tag, attributes):
        return part == TAB  # a panel is only not shown now
    return (
        attributes.get("hidden", FOUND) != FOUND
        or attributes.get("aria-hidden") == "true"
        or bool(HIDDEN.search(attributes.get("style", "")))
    )


@lru_cache(1024)  # few classes, many elements
def _is_gutter(tag: str, names: str) -> bool:
    """Elsewhere than in a table of code a "gutter" is the space between columns."""
    found = GUTTER.intersection(names.split())
    return bool(found) and (tag == "td" or found != {"gutter"})
