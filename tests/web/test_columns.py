"""Tables of a PDF: words that stand apart are apart, cells are told by tabs."""

import pytest

from fsagent_tools.media import pdf
from tests.web.test_media import written

pytest.importorskip("pypdfium2")

ROWS = [
    ("Item", "Count", "Price"),
    ("Apple", "3", "1.50"),
    ("Pear", "", "0.70"),
    ("Fig tree", "12", "9"),
]
READ = "Item\tCount\tPrice\nApple\t3\t1.50\nPear\t\t0.70\nFig tree\t12\t9"


def at(x, y, text):
    return f"BT /F 10 Tf {x} {y} Td ({text}) Tj ET\n" if text else ""


def text_of(stream):
    ((_, text),) = pdf.pages(written(stream), None).pages
    return text


def test_a_price_table_reads_right():
    cells = [
        at(x, 180 - 14 * n, cell)
        for n, row in enumerate(ROWS)
        for x, cell in zip((20, 70, 120), row, strict=True)
    ]
    assert text_of("".join(cells)) == READ


def test_so_does_one_whose_rows_are_one_text_with_kerning():
    rows = [f"[({a}) {-3000 * (1 + (not b))} ({b}) -3000 ({c})] TJ 0 -14 Td" for a, b, c in ROWS]
    text = text_of("BT /F 10 Tf 20 180 Td " + " ".join(rows) + " ET")
    assert [line.split() for line in text.split("\n")] == [" ".join(row).split() for row in ROWS]
    assert "Apple\t3\t1.50" in text


def test_two_columns_of_prose_are_read_one_after_the_other():
    left = [at(20, 180 - 14 * n, f"left line number {n}") for n in range(3)]
    right = [at(160, 180 - 14 * n, f"right line number {n}") for n in range(3)]
    text = text_of("".join([*left, *right]))
    assert text.split("\n") == [
        f"{side} line number {n}" for side in ("left", "right") for n in range(3)
    ]


def test_a_word_in_another_font_and_a_spaced_heading_stay_in_their_line():
    text = text_of(
        "BT /F 10 Tf 20 180 Td (see ) Tj /F 8 Tf (run) Tj /F 10 Tf (\\(now\\)) Tj ET\n"
        "BT /F 10 Tf 2 Tc 20 150 Td (SPACED) Tj ET\n" + at(20, 120, "a") + at(90, 120, "b")
    )
    assert text.split("\n") == ["see run(now)", "SPACED", "a\tb"]


def test_cells_that_fit_no_columns_are_only_apart():
    rows = [(20, 80), (20, 80), (20, 50), (60, 100)]
    cells = [
        at(x, 180 - 14 * n, word)
        for n, row in enumerate(rows)
        for x, word in zip(row, ("one", "two"), strict=True)
    ]
    wide = at(20, 110, "a cell as wide as the page itself") + at(200, 110, "two")
    assert text_of("".join(cells) + wide).split("\n")[:4] == ["one\ttwo"] * 4
