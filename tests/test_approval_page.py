"""People approve and reject what an agent does, on a web page in a real browser."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser import browser as browser
from tests.browser import needs_browser
from tests.conftest import eventually

pytestmark = [needs_browser, pytest.mark.full]
EXAMPLE = Path(__file__).parents[1] / "examples/approval_page.py"


@contextmanager
def serving(folder):
    """The example's server; ends, as a person would end it, with the block."""
    environment = {**os.environ, "PORT": "0", "XDG_STATE_HOME": str(folder.parent / "state")}
    with (folder.parent / "log").open("w+") as log:
        command = [sys.executable, EXAMPLE, folder]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

        def address():
            return re.search(r"running on (http://\S+)", Path(log.name).read_text())

        try:
            assert eventually(lambda: address() or server.poll() is not None)
            yield address()[1]
        finally:
            server.terminate()
            server.wait()


def shown(browser, element):
    return browser.find_element("id", element).text


def press(browser, button):
    page = browser.find_element("tag name", "html")
    browser.find_element("id", button).click()
    assert eventually(lambda: browser.find_element("tag name", "html") != page)


def test_two_people_decide_and_the_server_is_started_anew_in_between(browser, tmp_path):
    folder = tmp_path / "folder"
    with serving(folder) as address:
        browser.get(address)
        press(browser, "start")
        one = browser.current_url.removeprefix(address)
        assert "-    return int(whole) * 100 + int(cents or 0)" in shown(browser, "diff")
        press(browser, "approve")
        assert "+        if self.count >= BULK_FROM:" in shown(browser, "diff")
        assert not changed(folder / one.strip("/"))

        browser.get(address)
        press(browser, "start")
        other = browser.current_url.removeprefix(address)
        assert other != one
        browser.find_element("id", "reason").send_keys("<b>not</b> today")
        press(browser, "reject")

    with serving(folder) as address:
        browser.get(address + one)
        assert "1 of 2" in browser.page_source  # half an answer is none
        for _ in range(2):
            press(browser, "approve")
        assert "changes nothing or is refused" in shown(browser, "diff")  # by an ID that is gone
        for _ in range(2):
            press(browser, "approve")
        assert "Fixed" in shown(browser, "said")
        assert changed(folder / one.strip("/")) == ["shop/cart.py", "shop/prices.py"]
        assert not changed(folder / other.strip("/"))

        browser.get(address + other)
        for button in ("approve", "reject", "approve", "approve"):
            press(browser, button)
        assert "Fixed" in shown(browser, "said")
        assert changed(folder / other.strip("/")) == ["shop/prices.py"]
        browser.get(f"{address}/nobody")
        assert "no such conversation" in browser.page_source


def changed(thread):
    """The files of the conversation's project that are no longer what they were."""
    before = EXAMPLE.parent / "project"
    names = [str(path.relative_to(before)) for path in sorted(before.rglob("*.py"))]
    return [n for n in names if (thread / "project" / n).read_text() != (before / n).read_text()]
