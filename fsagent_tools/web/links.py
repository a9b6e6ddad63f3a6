"""Where the links of a page lead, told as briefly as can be."""

from collections.abc import Iterable, Mapping
from urllib.parse import urljoin


class Links:
    """base: what they are relative to. site: what is left out of those that begin with it, but for
    its slash; `shortened` says whether there were any.
    """

    def __init__(self, base: str, site: str) -> None:
        self.shortened = False
        self._site = site
        self.rebase(base)

    def rebase(self, base: str) -> None:
        self.base = base
        self._hrefs: dict[str, str] = {}  # as the page writes them -> as they are shown

    def href(self, attributes: Mapping[str, str]) -> str:
        written = attributes.get("href", "")
        if (link := self._hrefs.get(written)) is None:
            link = written.strip()
            if not link.startswith("#"):
                link = self.absolute(link, "mailto:")
            self._hrefs[written] = link
        return link

    def absolute(self, link: str, *schemes: str) -> str:
        """ "" for what is no address of the web, nor of one of `schemes`."""
        try:
            joined = urljoin(self.base, link).replace(" ", "%20") if link else ""
        except ValueError:
            return ""
        if self._site and joined.startswith(self._site):
            self.shortened = True
            return joined[len(self._site) - 1 :]
        return joined if joined.startswith(("http://", "https://", *schemes)) else ""

    def first(self, addresses: Iterable[str]) -> str:
        """Like `absolute`, for the first of several that is one."""
        return next(filter(None, map(self.absolute, addresses)), "")
