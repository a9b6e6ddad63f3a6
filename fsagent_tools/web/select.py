"""The parts of a page that a CSS selector names."""

from html import escape

from fsagent_tools.errors import InvalidArguments, MissingDependency, TooLarge

_LARGEST = 5 * 2**20  # characters of HTML that a tree is built of
_PARTS = 100  # that are taken


def selected(source: str, selector: str) -> str:
    """A page of its own with the parts, the outmost of those within each other, and the title.

    A tree is built for this, of up to 20 times the page's size. Raises `InvalidArguments` for a
    selector that is none or finds nothing, `TooLarge`, `MissingDependency`.
    """
    try:
        from bs4 import BeautifulSoup
        from soupsieve import SelectorSyntaxError
    except ImportError:
        raise MissingDependency(
            "`selector` needs beautifulsoup4.", hint="pip install 'fsagent-tools[web]'."
        ) from None
    if len(source) > _LARGEST:
        raise TooLarge(f"`selector`: the HTML has {len(source):,} characters, too many to search.")
    soup = BeautifulSoup(source, "lxml")
    try:
        found = soup.select(selector, limit=_PARTS)
    except (SelectorSyntaxError, NotImplementedError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise InvalidArguments(f"`selector` is not a CSS selector: {why}") from None
    if not found:
        raise InvalidArguments(
            f"`selector`: nothing on the page matches {selector[:80]!r}.",
            hint="Fetch without it, or with `format`='html' to see the elements.",
        )
    chosen = {id(part) for part in found}
    parts = [part for part in found if not any(id(above) in chosen for above in part.parents)]
    title = escape(soup.title.get_text()) if soup.title else ""
    return f"<title>{title}</title><main>{''.join(map(str, parts))}</main>"
