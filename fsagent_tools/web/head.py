"""What a page says of itself in its <meta> elements."""

import re
from collections.abc import Mapping

REFRESH = re.compile(r"\s*[0-5](?:\.\d+)?\s*[;,]\s*url\s*=\s*['\"]?([^'\"]{1,2000})", re.IGNORECASE)
MANUALS = re.compile(
    r"doxygen|mediawiki|docbook|asciidoc|docutils|sphinx|texi2|makeinfo|javadoc|mkdocs|pandoc|doc$",
    re.IGNORECASE,
)


STORY = ("og:type", "article")


class Head:
    """manual: a generator of documentation wrote it. story: it says that it is an article. refresh:
    where it sends its reader.
    """

    def __init__(self) -> None:
        self.manual = self.story = False
        self.refresh = ""

    def meta(self, attributes: Mapping[str, str]) -> None:
        content, property_ = attributes.get("content", ""), attributes.get("property", "")
        self.story |= property_.startswith("article:") or (property_, content) == STORY
        if attributes.get("name", "").lower() == "generator":
            self.manual |= bool(MANUALS.search(content))
        elif attributes.get("http-equiv", "").lower() == "refresh":
            found = REFRESH.match(content)
            self.refresh = self.refresh or (found[1].strip() if found else "")
