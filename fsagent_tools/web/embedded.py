"""What only a browser plays, of which a link is left."""

import re
from collections.abc import Mapping

TASKS = {"task-list", "task-list-item", "task-list-item-checkbox", "contains-task-list"}
EMBEDS = {"iframe": "embedded page", "video": "video", "audio": "audio", "source": "media"}
PLAYER = re.compile(r"embed|player|video|youtu|vimeo|codepen|sandbox", re.IGNORECASE)
_NAME = 100  # characters of a name that are kept


def embedded(tag: str, attributes: Mapping[str, str]) -> str:
    """The name of one of `EMBEDS`; "" for a frame that is no player and says nothing of itself."""
    says = tag != "iframe" or "title" in attributes or PLAYER.search(attributes.get("src", ""))
    if not says:
        return ""
    return " ".join(attributes.get("title", "").split())[:_NAME] or EMBEDS[tag]
