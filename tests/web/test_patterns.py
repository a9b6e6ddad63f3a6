"""What generators of pages write in ways of their own: tabs, formulas, tables, late pictures."""

import pytest

from tests.web.test_page import said

pytest.importorskip("lxml")


def told(body):
    return said(f"<main>{body}</main>").text


@pytest.mark.parametrize(
    "body",
    [
        "<p>a</p><embed src=/film.swf><p>rest</p>",
        "<p><picture><source srcset=/w.webp><img src=/w.png alt=a></picture></p><p>rest</p>",
    ],
)
def test_an_element_without_an_end_hides_nothing_behind_it(body):
    assert told(body).endswith("rest")
    assert "a" in told(body)


@pytest.mark.parametrize(
    "picture",
    [
        "<picture><source srcset=/w.webp><img src=/real.png alt=A></picture>",
        "<img srcset='/real.png 1x, /large.png 2x' alt=A>",
        "<img src='data:image/gif;base64,R0' data-srcset='/real.png 400w, /b.png 800w' alt=A>",
    ],
)
def test_a_picture_is_told_however_it_is_loaded(picture):
    assert told(f"<p>{picture}</p>") == "![A](/real.png)"


def test_a_frame_loaded_late_and_frames_of_a_set_are_links():
    late = "<iframe data-src='https://player.example/1' src='about:blank'></iframe>"
    assert told(late) == "[embedded page](https://player.example/1)"
    assert said("<frameset><frame src=/a.html></frameset>").text == "[frame](/a.html)"


def test_what_a_search_would_open_is_shown():
    assert told("<p>a</p><div hidden=until-found>b</div><div hidden>c</div>") == "a\n\nb"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("10<sup>-3</sup>", "10^-3"),
        ("10<sup>\u22123</sup>", "10^\u22123"),
        ("<i>x</i><sup><i>n</i></sup>", "*x*^*n*"),
        ("a<sup>n+1</sup>", "a^(n+1)"),
        ("y<sub>i+1</sub>", "y_(i+1)"),
        ("the 1<sup>st</sup>", "the 1st"),
    ],
)
def test_an_exponent_stays_apart_from_its_base(body, text):
    assert told(f"<p>{body}</p>") == text


def test_a_matrix_keeps_its_rows_apart():
    cells = "<mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>"
    assert told(f"<p><math><mtable>{cells}{cells}</mtable></math></p>") == "a b; a b"


@pytest.mark.parametrize(
    ("pre", "language"),
    [
        ("<pre class='src src-python'>a</pre>", "python"),
        ("<pre class='code rust literal-block'>a</pre>", "rust"),
        ("<pre class='code literal-block'>a</pre>", ""),
        ("<pre><span class='linenumber react-syntax-highlighter-line-number'>1</span>a</pre>", ""),
    ],
)
def test_code_has_its_language_and_no_numbers(pre, language):
    assert told(pre) == f"```{language}\na\n```"


def test_a_cell_spans_the_rows_of_its_group_only():
    text = told(
        "<table><thead><tr><th>a<th>b</thead><tbody><tr><td rowspan=3>A<td>1<tr><td>2</tbody>"
        "<tbody><tr><td rowspan=0>B<td>3<tr><td>4</tbody></table>"
    )
    assert text.split("\n")[2:] == ["| A | 1 |", "| A | 2 |", "| B | 3 |", "| B | 4 |"]


@pytest.mark.parametrize(
    "table",
    [
        "<table><tr>" + ("<td rowspan=500>" + "x" * 90) * 1000 + "<tr><td>a" * 499,
        "<table>" + "<tr><td rowspan=500 colspan=10>x" * 5000,
        ("<table><tr>" + "<td rowspan=500>x" * 100 + "<tr><td>a" * 499 + "</table>") * 20,
    ],
    ids=["wide", "steps", "many"],
)
def test_cells_that_span_rows_unfold_to_little_more_than_the_page(table):
    assert len(told(table)) < 2_000_000


def test_parts_within_each_other_are_left_out_in_one_go():
    """Left out one by one they cost the square of the page."""
    depth = 30_000
    story = "<p>" + "A word of the story. " * 40 + "</p>"
    menus = "<div class=nav>" * depth + "<p>x</p>" * depth + "</div>" * depth
    text = said(f"<body>{menus}{story * 500}").text
    assert text.startswith("A word")
    assert "x" not in text
