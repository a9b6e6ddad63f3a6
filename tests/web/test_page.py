"""What becomes of a body: shapes of pages against golden files, charsets, hostile input."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fsagent_tools.deadline import Deadline
from fsagent_tools.errors import BinaryFile, TimedOut, TooLarge
from fsagent_tools.media import apart
from fsagent_tools.web.client import Download
from fsagent_tools.web.pages import EMPTY, decode_page, page_of
from fsagent_tools.web.urls import parse_url
from tests.conftest import PATIENCE, soon
from tests.web.test_media import document

pytest.importorskip("lxml")
PAGES = sorted((Path(__file__).parent / "pages").iterdir())
GOLDEN = Path(__file__).parents[1] / "golden" / "web"
TYPES = {
    ".html": "text/html",
    ".xml": "application/rss+xml",
    ".json": "application/json",
    ".txt": "text/plain",
}


def said(body, content_type="text/html", wanted="markdown", clock=None):
    raw = body if isinstance(body, bytes) else body.encode()
    url = parse_url("https://example.com/docs/page")
    found = Download(url, 200, {"content-type": content_type}, raw)
    return page_of(found, wanted, clock or Deadline(PATIENCE, ""))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_becomes_its_golden_markdown(path):
    text = said(path.read_bytes(), TYPES[path.suffix]).text + "\n"
    golden = GOLDEN / f"{path.stem}.txt"  # ruff would format the code in .md
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


TALE = "<p>" + "It was a dark and stormy night, and nobody was about. " * 20 + "</p>"


@pytest.mark.parametrize("main", ["Loading...", "<div>Please wait &hellip;</div>"])
def test_a_main_element_that_waits_for_a_script_does_not_stand_for_the_page(main):
    text = said(f"<nav>Menu</nav><main>{main}</main><div id=story>{TALE}</div>").text
    assert text.count("stormy") == 20
    assert "Menu" not in text


@pytest.mark.parametrize("main", ["<h1>Not found</h1>", "<p>No such page.</p>" * 6])
@pytest.mark.parametrize("wanted", ["markdown", "text"])
def test_a_short_main_element_with_a_heading_or_sentences_does(wanted, main):
    assert "stormy" not in said(f"<main>{main}</main><div>{TALE}</div>", wanted=wanted).text


def test_a_main_element_of_one_sentence_stands_for_a_page_without_more():
    assert said("<main>Gone.</main><footer>Terms</footer>").text == "Gone."


@pytest.mark.parametrize("wanted", ["markdown", "text"])
def test_a_page_of_links_keeps_them(wanted):
    raw = (Path(__file__).parent / "pages" / "link_index.html").read_bytes()
    assert all(word in said(raw, wanted=wanted).text for word in ("alpha", "gamma", "delta"))


FRENCH = "Le café était fermé, à cause d’une fête où l’on célébrait la forêt — « très » belle. "
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "
JAPANESE = "これは日本語の文章です。文字コードの判定を確認します。"
CHARSETS = [  # what, text, encoding, content type, a meta in the page
    ("mark", FRENCH, "utf-8-sig", "text/html; charset=windows-1251", ""),
    ("utf-16 mark", JAPANESE, "utf-16", "text/html", ""),
    ("header", RUSSIAN, "koi8-r", "text/html; charset=koi8-r", ""),
    ("meta", JAPANESE, "shift_jis", "text/html", "shift_jis"),
    ("wrong header, UTF-8 body", RUSSIAN, "utf-8", "text/html; charset=windows-1251", ""),
    ("latin-1 header, right meta", RUSSIAN, "cp1251", "text/html; charset=ISO-8859-1", "cp1251"),
    ("latin-1 header is cp1252", FRENCH, "cp1252", "text/html; charset=iso-8859-1", ""),
    ("seven-bit encoding", JAPANESE, "iso2022_jp", "text/html", "iso-2022-jp"),
    ("nothing", RUSSIAN, "cp1251", "text/html", ""),
]


@pytest.mark.parametrize(
    ("text", "encoding", "header", "meta"), [c[1:] for c in CHARSETS], ids=[c[0] for c in CHARSETS]
)
def test_the_charset_is_found(text, encoding, header, meta):
    html = f"<html><head><meta charset='{meta}'></head><p>{text * 3}" if meta else text * 3
    assert decode_page(html.encode(encoding), header) == html


def test_utf8_with_one_broken_byte_stays_utf8():
    raw = (RUSSIAN * 20).encode()
    assert decode_page(raw[:101] + raw[102:]).count("\ufffd") <= 2


def test_an_unknown_charset_is_ignored():
    assert decode_page(b"abc", "text/html; charset=hex") == "abc"


def test_text_keeps_blocks_apart():
    assert said("<main><h1>A</h1><p>b <i>c</i></p><ul><li>d</ul></main>", wanted="text").text == (
        "A\n\nb c\n\nd"
    )


def test_html_is_the_source_without_controls():
    assert said("<p>a\x1b[2Jb\x00</p>", wanted="html").text == "<p>ab</p>"


def test_five_hundred_nested_tags_keep_their_words():
    assert "deep" in said("<p>top</p>" + "<div>" * 500 + "deep").text


@pytest.mark.parametrize(
    "hostile",
    [
        "<!--" * 200_000,
        "<div>" * 100_000 + "x",
        "<pre>" + "\n" * 500_000 + "x",
        " " * 900_000 + "x",
        "<p>" + " \n" * 400_000 + "x",
        "<" * 800_000,
        "<table><tr>" + "<td>|" * 30_000,
        "<a href='" + "x" * 500_000,
        "<b>" * 900 + "x",
        "<meta charset=" * 50_000,
        "<main>x" * 30_000,
        "<table><tr><td>" * 20_000,
        "<b>x<i>y<ul><li>" * 10_000,
        "<pre>" + "\n`" * 200_000,
        "<meta property=og:type content=article><article>" + "<aside><p>a few words " * 40_000,
    ],
    ids=range(15),
)
def test_hostile_pages_are_read_in_time(hostile):
    assert said(hostile).text


def test_a_menu_goes_from_a_short_page_too():
    menu = "".join(f"<tr><td><a href=/{n}>function {n}</a> (C++11)</td></tr>" for n in range(9))
    words = "Returns an iterator one past the last element."
    page = f"<body><h1>end</h1><div class=t-navbar><table>{menu}</table></div><p>{words}"
    assert said(page).text == f"# end\n\n{words}"


SLOW = [pytest.param(shape, marks=pytest.mark.slow) for shape in ("docs", "table")]


@pytest.mark.full
@pytest.mark.parametrize("shape", ["flat", *SLOW])
def test_the_memory_that_a_page_of_2_mb_takes_is_in_proportion(shape):
    """It is converted in parts; a child's memory is bounded besides."""
    pytest.importorskip("resource")
    bench = Path(__file__).parents[2] / "examples" / "bench" / "web.py"
    command = [sys.executable, bench, "ours", shape, str(2 * 2**20)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(told.split()[1]) <= 60  # times its size


def test_a_conversion_is_given_up_at_the_deadline(monkeypatch):
    monkeypatch.setattr(apart, "_CODE", "import time; time.sleep(600)")  # it is never done
    monkeypatch.setattr(apart, "_readers", cache(apart._readers.__wrapped__))
    with soon(), pytest.raises(TimedOut):
        said("<p>word</p>", clock=Deadline(0.5, ""))


def test_a_pdf_is_given_up_at_the_deadline():
    pytest.importorskip("pypdfium2")
    with pytest.raises(TimedOut):
        said(document(*["words"] * 9), clock=Deadline(0, ""))


@pytest.mark.parametrize("kind", ["ul", "ol", "table"])
def test_a_long_list_or_table_reads_as_one(kind):
    row = "<tr><td>r{}</td><td>x</td></tr>" if kind == "table" else "<li>r{}</li>"
    body = "".join(row.format(n) for n in range(3000))
    lines = said(f"<main><{kind}>{body}</{kind}></main>").text.split("\n")
    assert sum("r" in line for line in lines) == 3000
    assert len(lines) <= 3002
    assert lines[-1] == {"ul": "- r2999", "ol": "3000. r2999", "table": "| r2999 | x |"}[kind]


def test_binary_is_refused_with_type_and_size():
    with pytest.raises(BinaryFile, match=r"application/zip \(4 bytes\)"):
        said(b"PK\x03\x04", "application/zip")


@pytest.mark.full
def test_json_whose_indentation_swells_is_refused():
    deep = "[" * 900 + "1," * 1_000_000 + "1" + "]" * 900
    with pytest.raises(TooLarge, match=r"takes more|holds more"):
        said(deep, "application/json")


def test_html_above_the_limit_is_cut_and_says_so():
    row = "<p>A line of a page that is much too long to be converted as a whole.</p>"
    text = said(f"<main>{row * 40_000}</main>").text
    assert text.endswith("format='html' to read the rest.]")
    assert 500_000 < len(text) < 2 * 2**20


def test_lone_surrogates_in_json_are_replaced():
    assert said('{"a": "\\ud800"}', "application/json").text.encode()


def test_a_gutter_is_left_out_of_code_but_not_of_a_layout():
    code = "<table><tr><td class='gutter'><pre>1\n2</pre></td><td><pre>x\ny</pre></td></tr></table>"
    column = "<div class='oneHalf gutter'><p>The story of the day, told in a column.</p></div>"
    text = said(f"<body>{column}{code}</body>").text
    assert "The story of the day" in text
    assert "x\ny" in text
    assert "1\n2" not in text


SENTENCE = "The council met on Monday and heard what the owners of the mill had to say about it. "
STORY = f"<h1>The mill is saved</h1><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p>"
NEWS = "<title>The mill is saved - The Daily Example</title>"


def teasers(count):
    return "".join(
        f"<h4><a href='/{n}'>Another story number {n}</a></h4><p>What it is about, shortly.</p>"
        for n in range(count)
    )


def test_parameters_with_linked_types_are_no_menu():
    items = "".join(
        f"<li><code>arg{n}</code> <a href='/types#{n}'>&lt;a_long_name_of_a_type&gt;</a></li>"
        for n in range(3)
    )
    body = f"<h1>open_it(path)</h1><ul>{items}</ul><p>{SENTENCE * 4}</p>"
    text = said(f"<title>Reference</title><body>{body}</body>").text
    assert all(f"`arg{n}`" in text for n in range(3))


def test_what_is_hidden_does_not_come_back_with_what_is_told_beside_it():
    hidden = "<div hidden>secret<input type=checkbox disabled>words</div>"
    text = said(f"<p>before<video>no player<source src=/a.mp4>none</video>{hidden}after</p>").text
    assert text == "before\n\n[media](/a.mp4)\n\nafter"


@pytest.mark.parametrize(
    "item",
    [
        '<ul><li class="task-list-item"><input type="checkbox" checked> done</li></ul>',
        '<ul class="task-list"><li><label><input type="checkbox" checked>done</label></li></ul>',
        "<ul><li><p><input type=checkbox disabled checked> done</p></li></ul>",
        "<ul><li><input type=checkbox checked> done</ul>",
        "<ul><li><label><input type=checkbox checked> done</label></ul>",
    ],
)
def test_a_box_of_a_list_of_tasks_says_whether_it_is_ticked(item):
    assert said(f"<main><p>a</p>{item}</main>").text == "a\n\n- [x] done"


def test_a_box_beside_a_word_that_holds_task_is_no_task():
    box = "<div class=multitasking><p><input type=checkbox> Show all</p></div>"
    assert said(f"<main><p>a</p>{box}</main>").text == "a\n\nShow all"


def test_stars_of_a_page_are_no_marks_and_marks_are_no_stars_of_the_page():
    text = said(
        "<p>2*3 <b>bold*</b> <code>**kw</code> <a href='/a*b'>x*<i>y</i></a><br>z*</p>"
    ).text
    assert text == r"2\*3 **bold\*** `**kw` [x\**y*](/a*b)" + "  \n" + r"z\*"


TOWN = f"<h1>News of the town</h1><p>{'The bridge is closed until the summer. ' * 20}</p>"
COOKIES = (
    f"<div role=dialog><h2>Privacy</h2><p>{'We and our partners use cookies. ' * 12}</p></div>"
)


def test_a_heading_over_what_was_left_out_goes_at_the_end_of_a_page_too():
    comments = "<div id=comments><h2>3 comments</h2><div class=comment><p>Yes.</p></div></div>"
    told = said(f"<body><div>{TOWN}</div>{comments}</body>").text
    assert "summer" in told
    assert "comments" not in told
    assert said(f"<body>{TOWN}<h2>Ends</h2></body>").text.endswith("## Ends")


def test_a_shadow_tree_in_a_page_is_read_and_a_template_is_not():
    tree = "<my-page><template {}><h1>Head</h1><p>Words.</p></template></my-page>"
    assert said(f"<body>{tree.format('shadowrootmode=open')}</body>").text == "# Head\n\nWords."
    assert "Words" not in said(f"<body>{tree.format('id=a')}</body>").text


SIDE = "".join(
    f"<div class=item><a href=/{n}>Another piece {n}</a><p>{'It is told elsewhere. ' * 4}</p></div>"
    for n in range(9)
)


ARTICLE = "<meta property=og:type content=article>"


@pytest.mark.parametrize("around", ["body", "main"])
def test_the_answers_to_a_long_question_belong_to_it(around):
    answers = "".join(
        f"<div class=post><div class=words><p>{'Try the second door. ' * 8}{n}</p></div></div>"
        for n in range(3)
    )
    page = f"<{around}><div class=post><div class=words>{TALE}</div></div>{answers}</{around}>"
    assert said(ARTICLE + page).text.count("second door") == 24


def test_comments_go_where_a_story_stands_without_them_and_are_what_a_discussion_is():
    comments = "".join(
        f"<div class=comment><p>{'I do not think so at all. ' * 9}</p></div>" for _ in range(9)
    )
    assert "think so" not in said(f"<div class=story>{TALE}</div>{comments}").text
    assert said(f"<h1>What now?</h1>{comments}").text.count("think so") == 81


def test_a_header_that_holds_the_story_is_not_left_out():
    assert "stormy" in said(f"<header><div class=story>{TALE}</div></header><p>Bye.</p>").text


def test_within_a_main_element_a_box_of_links_goes_and_a_note_stays():
    note, box = "<aside><p>Mind the gap in here.</p></aside>", "<aside><a href=/x>Else</a></aside>"
    page = f"<main><header><h1>Gaps</h1></header><div>{TALE}{note}</div>{box}</main>"
    text = said(ARTICLE + page).text
    assert "# Gaps" in text
    assert "Mind the gap" in text
    assert "Else" not in text
    assert "Else" in said(page).text


def test_sections_and_headings_named_like_chrome_are_part_of_a_manual():
    text = said(
        f"<main><h1>Tool</h1>{TALE}<h2 id=comments>Comments</h2><p>Begin with #.</p>"
        "<section id=tags><h2>Tags</h2><p>They name things.</p></section></main>"
    ).text
    assert all(part in text for part in ("## Comments", "Begin with", "## Tags", "They name"))


def test_code_and_tables_count_as_text_of_a_page():
    code = "<div class=code><pre>" + "count = count + 1\n" * 90 + "</pre></div>"
    assert (
        "count + 1"
        in said(f"{ARTICLE}<main><h1>T</h1><div class=told>{TALE}</div>{code}</main>").text
    )


def test_a_long_listing_is_no_story_of_its_own():
    code = "<div class=code><pre>" + "count = count + 1\n" * 400 + "</pre></div>"
    text = said(f"{ARTICLE}<div class=told>{TALE}{code}</div>").text
    assert text.count("stormy") == 20
    assert "count + 1" in text


def test_what_a_page_has_for_readers_without_scripts_is_its_text_where_it_has_no_other():
    told = "Each of these sentences is part of the article. " * 10
    article = f"<noscript><h1>Head</h1><p>{told}</p></noscript>"
    assert said(f"<body>{article}</body>").text == f"# Head\n\n{told.strip()}"
    assert said(f"<body><p>Words.</p>{article}</body>").text == "Words."
    assert said("<noscript>You need to enable JavaScript.</noscript>").text == EMPTY


@pytest.mark.parametrize("raw", [b"caf\xe9", "Stra\u00dfe \u20ac ".encode() * 30 + b"\xff ok"])
def test_one_bad_byte_of_a_page_that_names_its_charset_is_one_sign(raw):
    text = decode_page(raw, "text/html; charset=utf-8")
    assert text.count("\ufffd") == 1
    assert "\u00c3" not in text


@pytest.mark.parametrize("style", ["display: none", "Visibility:hidden", "color:red;display:NONE"])
def test_what_a_style_hides_is_not_read(style):
    page = f"<main><p>before</p><div style='{style}'>secret</div><p>after</p></main>"
    assert said(page).text == "before\n\nafter"


def test_a_page_that_is_converted_in_parts_reads_as_one():
    rows = "".join(f"<tr><td>r{n}</td><td>a <b>b</b></td></tr>" for n in range(2000))
    items = "".join(f"<li>i{n}" for n in range(3000))
    body = f"start<table><tr><th>A<th>B</tr>{rows}</table>between<ol>{items}</ol>end <i>here</i>"
    text = said(f"<main>{body}</main>").text
    assert text.startswith("start\n\n| A | B |\n| --- | --- |\n| r0 | a **b** |\n| r1 |")
    assert "| r1999 | a **b** |\n\nbetween\n\n1. i0\n2. i1\n" in text
    assert text.endswith("\n3000. i2999\n\nend *here*")
    assert text.count("\n\n") == 4
