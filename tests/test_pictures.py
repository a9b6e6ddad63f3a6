"""The pictures of the front page in a real browser: what is aligned there is aligned here."""

from pathlib import Path

import pytest

from tests.browser import browser as browser
from tests.browser import needs_browser

pytestmark = pytest.mark.full

DOCS = Path(__file__).parents[1] / "docs"
MEASURED = """return [...document.querySelectorAll("text")].map(
    text => [text.textContent, text.getComputedTextLength(), text.getBBox().x])"""


@needs_browser
@pytest.mark.parametrize("name", ["edit", "terminal"])
def test_every_character_has_its_column(browser, name):
    """Blanks too: browsers leave them out unless each text says that they count."""
    browser.get((DOCS / f"{name}.svg").as_uri())
    texts = browser.execute_script(MEASURED)
    indented = [text for text, *_ in texts if "     return" in text or text.startswith("    ")]
    assert indented
    widths = {round(width / len(text), 1) for text, width, _ in texts}
    assert max(widths) - min(widths) <= 0.1, "a monospaced font"
    frame = browser.execute_script("return document.documentElement.viewBox.baseVal.width")
    assert all(x + width <= frame for _, width, x in texts)
