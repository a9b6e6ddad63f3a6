"""The report in a real browser: it is read with keys, searched, filtered, and calls nobody."""

import pytest

from tests.browser import browser as browser
from tests.browser import needs_browser
from tests.conftest import eventually
from tests.test_report import session as session

pytestmark = needs_browser
DARK = "rgb(13, 17, 23)"


@pytest.fixture
def page(browser, session, tmp_path):
    """The page, once its script has unpacked what it shows."""
    file = tmp_path / "report.html"
    file.write_text(session.report())
    browser.get(file.as_uri())
    assert eventually(lambda: "ready" in attributes(browser))
    return browser


def attributes(page):
    return page.execute_script("return {...document.documentElement.dataset}")


def press(page, keys):
    for key in keys:
        page.execute_script(
            "document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))",
            key,
        )


def visible(page):
    rows = page.find_elements("css selector", "main>details:not([hidden])")
    return [row.find_element("tag name", "b").text for row in rows]


def opened(page):
    return page.find_element("css selector", "details[open] .body")


def test_an_edit_is_opened_with_keys_and_shows_both_sides(page):
    assert visible(page) == ["read", "edit_lines", "read", "read", "bash", "rm", "checkpoint"]
    press(page, "n")
    page.switch_to.active_element.click()
    row = page.find_element("css selector", ".diff tr:has(.del)")
    old, new = (row.find_element("css selector", side).text for side in (".del", ".add"))
    assert (old, new) == ("x0 = 0", "x0 = '</script><b>'")
    assert [cell.text for cell in row.find_elements("css selector", "td.n")] == ["1", "1"]
    assert "a.py" in opened(page).text


def test_rows_are_found_by_words_of_diffs_and_by_kind(page):
    page.find_element("id", "search").send_keys("script x0")
    assert visible(page) == ["edit_lines"]
    press(page, ["Escape"])
    press(page, "r")
    assert visible(page) == ["read", "read"]
    press(page, "r")
    for kind in ("read", "edit"):
        page.find_element("css selector", f"input[value={kind}]").click()
    assert visible(page) == ["bash", "checkpoint"]
    assert page.find_element("id", "count").text == "2 of 7"


def test_a_command_is_shown_with_its_output(page):
    page.find_element("css selector", "details[data-k~=command] summary").click()
    assert "Command\necho out; echo x > b.txt; exit 3" in opened(page).text
    assert "Output\nout" in opened(page).text


def test_dark_and_light(page):
    def background():
        return page.find_element("tag name", "body").value_of_css_property("background-color")

    before = background().replace("rgba", "rgb").replace(", 1)", ")")
    press(page, "t")
    after = background().replace("rgba", "rgb").replace(", 1)", ")")
    assert {before, after} == {"rgb(255, 255, 255)", DARK}


def test_all_is_opened_and_closed_with_one_key_and_nothing_is_asked_of_anybody(page):
    press(page, "x")
    assert eventually(lambda: len(page.find_elements("css selector", ".body")) == 7)
    asked = "return performance.getEntriesByType('resource').map(one => one.name)"
    assert page.execute_script(asked) == []
    assert [line for line in page.get_log("browser") if line["level"] != "INFO"] == []
    press(page, "x")
    opened = "return document.querySelectorAll('details[open]').length"
    assert page.execute_script(opened) == 0  # the driver waits for elements until there are some
