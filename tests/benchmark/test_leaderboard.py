"""The leaderboard as a person sees it: in a browser, by day and by night, in a narrow window."""

import re

import pytest

from benchmark.agent.leaderboard import page
from benchmark.agent.standings import difference, interval, standings
from tests.benchmark.test_agent import record
from tests.browser import browser as browser
from tests.browser import needs_browser

SOLVED = {"words": 18, "tag": 15, "short": 15, "compact": 9, "deepagents": 2}  # of 20
RECORDS = [
    record(n, contender, solved=n < count, kind=("equal", "<less>")[n % 2])
    for contender, count in SOLVED.items()
    for n in range(20)
]
PAGE = page("m & <n>", standings(RECORDS, (1, 10)), RECORDS)


@pytest.fixture
def shown(browser, tmp_path):
    path = tmp_path / "agent.html"
    path.write_text(PAGE)

    def show(scheme, width=1_000):
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(path.as_uri())
        return browser

    return show


def rows(browser, name):
    """The cells of a table, as text."""
    cells = "r => [...r.cells].map(c => c.innerText)"
    script = f"return [...document.querySelectorAll('#{name} tr')].map({cells})"
    return [[cell.strip() for cell in row] for row in browser.execute_script(script)]


@needs_browser
def test_standings_differences_and_kinds_can_be_read(shown):
    browser = shown("light")
    assert browser.find_element("css selector", "h1").text == "m & <n>"
    head, *board = rows(browser, "standings")
    assert head[:4] == ["tools", "runs", "solved", "95 %"]
    assert [row[0] for row in board] == [*SOLVED]
    low, high = (100 * x for x in interval([1.0] * 18 + [0.0] * 2))
    assert board[0][1:4] == ["20", "90.0 %", f"{low:.1f} to {high:.1f}"]
    names, *gaps = rows(browser, "differences")
    assert names[1:] == [row[0] for row in gaps] == [*SOLVED]
    gap, low, high = (100 * x for x in difference(RECORDS, "words", "deepagents"))
    assert gaps[0][-1] == f"{gap:+.1f} ({low:+.1f} to {high:+.1f})"
    assert [row[n + 1] for n, row in enumerate(gaps)] == [""] * len(SOLVED)
    sure = browser.find_elements("css selector", "#differences .sure")
    assert gaps[0][-1] in [each.text for each in sure]
    assert gaps[1][3] not in [each.text for each in sure]  # tag and short solve the same
    assert rows(browser, "kinds")[1:] == [
        ["<less>", "90 % of 10", "70 % of 10", "70 % of 10", "40 % of 10", "10 % of 10"],
        [
            "equal\nif a == b: → if a != b:",
            "90 % of 10",
            "80 % of 10",
            "80 % of 10",
            "50 % of 10",
            "10 % of 10",
        ],
    ]


@needs_browser
@pytest.mark.parametrize(
    ("tests", "decides"),
    [
        ("", "byte for byte as it was"),
        ("pytest -q && true", "only which tests fail: pytest -q && true."),
    ],
)
def test_what_a_task_a_run_and_a_kind_are_is_explained(browser, tmp_path, tests, decides):
    path = tmp_path / "agent.html"
    path.write_text(page("m", standings(RECORDS), RECORDS, tests))
    browser.get(path.as_uri())
    text = browser.find_element("css selector", "body").text
    assert decides in text
    for word in ("Each task is", "A run is", "The kind of a task"):
        assert word in text


@needs_browser
def test_bars_are_as_long_as_what_they_tell(shown):
    browser = shown("light")
    script = (
        "return [...document.querySelectorAll('.share')].map(s => [...s.children].map("
        "c => [c.offsetLeft / s.offsetWidth, c.offsetWidth / s.offsetWidth]))"
    )
    for (bar, span), one in zip(browser.execute_script(script), standings(RECORDS), strict=True):
        assert bar == [0, pytest.approx(one.solved, abs=0.02)]
        assert span == [
            pytest.approx(one.low, abs=0.02), pytest.approx(one.high - one.low, abs=0.02),
        ]  # fmt: skip


def luminance(colour):
    """Of `rgb(...)`, as the accessibility guidelines reckon it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (x / 12.92 if x <= 0.04 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@needs_browser
@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_day_and_night_can_both_be_read(shown, scheme, dark):
    browser = shown(scheme)
    script = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    ink, back = map(luminance, browser.execute_script(script))
    assert (ink > back) == dark
    assert (max(ink, back) + 0.05) / (min(ink, back) + 0.05) >= 7


@needs_browser
def test_a_narrow_window_scrolls_tables_and_not_the_page(shown):
    browser = shown("light", 380)
    wide = "return [document.documentElement.scrollWidth, innerWidth]"
    page_width, window = browser.execute_script(wide)
    assert page_width <= window == 380


@needs_browser
def test_nothing_is_asked_for_elsewhere(shown):
    browser = shown("dark")
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
