"""What only a browser plays, of which a link is left."""

import re
from collections.abc import Mapping

TASKS = {"task-list", "task-list-item", "task-list-item-checkbox", "contains-task-list"}
EMBEDS = {
    "iframe": "embedded page",
    "frame": "frame",
    "video": "video",
    "audio": "audio",
    "source": "media",
}
PLAYER = re.compile(r"embed|player|video|youtu|vimeo|codepen|sandbox", re.IGNORECASE)
# The late ones first: a page that loads them late has a blank in `src`.
SOURCES = ("data-src", "data-original", "data-lazy-src", "src", "data-srcset", "srcset")
_NAME = 100  # characters of a name that are kept


def embedded(tag: str, attributes: Mapping[str, str]) -> str:
    """The name of one of `EMBEDS`; "" for a frame that is no player and says nothing of itself."""
    says = tag != "iframe" or "title" in attributes or any(map(PLAYER.search, sources(attributes)))
    if not says:
        return ""
    return " ".join(attributes.get("title", "").split())[:_NAME] or EMBEDS[tag]


def sources(attributes: Mapping[str, str]) -> list[str]:
    """The addresses of a picture or a frame, the best first; of a set its first one."""
    given = ((name, attributes[name].strip()) for name in SOURCES if name in attributes)
    return [
        found.split()[0].rstrip(",") if "set" in name else found for name, found in given if found
    ]
