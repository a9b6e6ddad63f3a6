"""The report in a real browser: it is read with keys, searched, filtered, and calls nobody."""

import pytest

from fsagent_tools.report import html_report
from tests.browser import browser as browser
from tests.browser import needs_browser
from tests.conftest import eventually
from tests.test_report import session as session

pytestmark = needs_browser
DARK = "rgb(13, 17, 23)"


@pytest.fixture
def page(browser, session, tmp_path):
    return shown(browser, session.report(), tmp_path)


@pytest.fixture
def shows(browser, tmp_path):
    """`shows(records)` is the page of these records."""
    return lambda records: shown(browser, html_report(records), tmp_path)


def shown(browser, text, folder):
    """The page, once its script has unpacked what it shows."""
    file = folder / "report.html"
    file.write_text(text)
    browser.get(file.as_uri())
    assert eventually(lambda: "ready" in attributes(browser))
    return browser


def texts(page, selector):
    find = "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)"
    return page.execute_script(find, selector)


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


def opened(page, kind):
    return page.find_element("css selector", f"details[open][data-k~={kind}] .body")


def test_the_first_edit_is_open_and_shows_both_sides(page):
    assert visible(page) == ["read", "edit_lines", "read", "read", "bash", "rm", "checkpoint"]
    row = page.find_element("css selector", ".diff tr:has(.del)")
    old, new = (row.find_element("css selector", side).text for side in (".del", ".add"))
    assert (old, new) == ("x0 = 0", "x0 = '</script><b>'")
    assert [cell.text for cell in row.find_elements("css selector", "td.n")] == ["1", "1"]
    assert "a.py" in opened(page, "edit").text


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
    row = page.find_element("css selector", "details[data-k~=command]")
    page.execute_script("arguments[0].open = true; arguments[0].scrollIntoView()", row)
    assert "Command\necho out; echo x > b.txt; exit 3" in opened(page, "command").text
    assert "Output\nout" in opened(page, "command").text


def test_dark_and_light(page):
    def background():
        return page.find_element("tag name", "body").value_of_css_property("background-color")

    before = background().replace("rgba", "rgb").replace(", 1)", ")")
    press(page, "t")
    after = background().replace("rgba", "rgb").replace(", 1)", ")")
    assert {before, after} == {"rgb(255, 255, 255)", DARK}


def test_all_is_opened_and_closed_with_one_key_and_nothing_is_asked_of_anybody(page):
    press(page, "x")
    assert eventually(lambda: len(page.find_elements("css selector", "details[open]")) == 7)
    asked = "return performance.getEntriesByType('resource').map(one => one.name)"
    assert page.execute_script(asked) == []
    assert [line for line in page.get_log("browser") if line["level"] != "INFO"] == []
    press(page, "x")
    opened = "return document.querySelectorAll('details[open]').length"
    assert page.execute_script(opened) == 0  # the driver waits for elements until there are some


def edit(*lines, header="", **more):
    diff = "\n".join([*filter(None, [header]), "--- a/f", "+++ b/f", "@@ -1,9 +1,9 @@", *lines])
    return {"tool": "edit", "effect": "write", "code": "OK", "diffs": [{"diff": diff}], **more}


def test_quotes_and_backslashes_are_found_and_names_of_fields_are_not(shows):
    page = shows([edit('+say "hi" \\o/', session="7"), {"tool": "ls", "session": "8"}])
    for sought, found in [('"hi"', ["edit"]), ("\\o/", ["edit"]), ("session", [])]:
        box = page.find_element("id", "search")
        box.clear()
        box.send_keys(sought)
        names = texts(page, "main>details:not([hidden]) b")
        assert names == found, sought


def test_enter_leads_from_the_search_to_the_first_call_that_was_found(shows):
    page = shows([{"tool": "ls"}, edit("+needle"), {"tool": "ls"}, edit("+needle two")])
    page.find_element("id", "search").send_keys("needle\n")
    assert texts(page, "details.here b") == ["edit"]
    assert page.execute_script("return document.activeElement.parentElement.id") == "n1"
    press(page, "j")
    assert page.execute_script("return document.querySelector('.here').id") == "n3"


def test_a_changed_file_is_found_with_a_key_whatever_its_name_is(shows):
    name = "a/" * 80 + 'long "name".py'
    page = shows([edit("+1", paths=[name], changed=[name]), {"tool": "ls"}])
    page.find_element("css selector", "[data-find]").send_keys("\n")
    assert texts(page, "main>details:not([hidden]) b") == ["edit"]


def test_what_two_characters_share_is_not_cut_out_of_them(shows):
    page = shows([edit("-a smile 😀 here", "+a smile 😁 here")])
    page.find_element("css selector", "summary").click()
    assert eventually(lambda: texts(page, ".diff mark") == ["😀", "😁"])


def test_a_diff_tells_of_modes_and_of_files_that_are_gone(shows):
    page = shows(
        [edit("-1", "+2", header="mode 644 -> 755 f"), edit("-1", header="deleted file f")]
    )
    press(page, "x")
    assert eventually(lambda: len(texts(page, ".diff th")) == 2)
    first, second = texts(page, ".diff th")
    assert "mode 644 -> 755 f" in first
    assert "deleted file f" in second


def test_lines_behind_what_was_left_out_of_a_diff_have_no_numbers(shows):
    page = shows(
        [edit("-1", "… 900 characters left out …", "lf a line", "+new", "@@ -70 +70 @@", "-z")]
    )
    page.find_element("css selector", "summary").click()
    assert eventually(lambda: [*filter(None, texts(page, ".diff td.n"))] == ["1", "70"])


def test_pauses_are_shown_only_between_all_calls(shows):
    times = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
    page = shows([{"tool": "ls", "time": time} for time in times])
    hidden = "return document.querySelector('.gap').hidden"
    assert not page.execute_script(hidden)
    page.find_element("id", "search").send_keys("nothing")
    assert page.execute_script(hidden)


def test_of_thousands_of_opened_calls_only_those_in_view_are_filled(shows):
    lines = [f"{mark}{n}" for n in range(30) for mark in "-+"]
    page = shows([edit(*lines, session=str(n % 2)) for n in range(3000)])
    press(page, "x")
    filled = "return document.querySelectorAll('.body').length"
    assert eventually(lambda: 0 < page.execute_script(filled) < 300)
    assert page.execute_script("return document.querySelectorAll('details[open]').length") == 3000
    page.execute_script("document.querySelector('#n2999').scrollIntoView()")
    assert eventually(lambda: page.find_elements("css selector", "#n2999 .body"))
    assert page.execute_script(filled) < 600


def test_a_printed_page_is_light_and_whole(page):
    press(page, "t")
    press(page, "x")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    body, pre = (page.find_element("css selector", name) for name in ("body", ".body pre"))
    for scheme in ("t", "t"):
        assert "255, 255, 255" in body.value_of_css_property("background-color")
        press(page, scheme)
    assert pre.value_of_css_property("max-height") == "none"


def test_what_is_printed_is_filled_first(shows):
    page = shows([edit(*(f"+{n}" for n in range(90))) for _ in range(200)])
    press(page, "x")
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(texts(page, ".body")) == 200


def test_odd_numbers_in_a_log_break_nothing(shows):
    page = shows([{"tool": "x", "changed": [float("nan"), {"a": 1}]}, edit("+1")])
    press(page, "x")
    assert eventually(lambda: texts(page, ".diff"))
