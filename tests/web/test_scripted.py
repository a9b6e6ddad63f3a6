"""Pages whose article is data for their scripts."""

import json

import pytest

from fsagent_tools.web.converted import EMPTY, html_page

SENTENCES = "Each of these sentences is part of the article. " * 6


def told(*scripts, body='<div id="root"></div>', kind="application/json"):
    made = "".join(
        f"<script type='{kind}'>{json.dumps(data).replace('<', chr(92) + 'u003c')}</script>"
        for data in scripts
    )
    page = f"<html><head><title>T</title></head><body>{body}{made}</body></html>"
    return html_page(page.encode(), "http://public.test/", "markdown", 60)["text"]


@pytest.mark.parametrize("kind", ["application/json", "application/ld+json"])
def test_an_article_that_is_data_is_read_with_its_marks(kind):
    article = f"<h2>Head</h2><p>{SENTENCES}</p><p>An <b>end</b>.</p>"
    text = told(
        {"props": {"post": {"body": article, "id": "x" * 300}}, "again": article}, kind=kind
    )
    assert text == f"## Head\n\n{SENTENCES.strip()}\n\nAn **end**."


def test_passages_without_marks_are_paragraphs():
    text = told({"blocks": [f"1 < 2. {SENTENCES}", f"{SENTENCES}Last."]})
    assert text == f"1 < 2. {SENTENCES.strip()}\n\n{SENTENCES}Last."


@pytest.mark.parametrize("data", [{"a": "short"}, {"a": "x" * 900}, ["a/b.js," * 90]])
def test_what_is_no_text_is_not_taken_for_an_article(data):
    assert told(data) == EMPTY


def test_data_beside_a_text_is_left_out():
    assert told({"a": SENTENCES}, body="<main><p>Words.</p></main>") == "Words."


def test_data_that_is_none_is_passed_over():
    page = b"<body><script type='application/json'>{" + b"[" * 100_000 + b"</script></body>"
    assert html_page(page, "http://public.test/", "markdown", 60)["text"] == EMPTY


def test_what_a_page_has_for_readers_without_scripts_is_its_text_where_it_has_no_other():
    article = f"<noscript><h1>Head</h1><p>{SENTENCES}</p></noscript>"
    assert told(body=article) == f"# Head\n\n{SENTENCES.strip()}"
    assert told(body=f"<p>Words.</p>{article}") == "Words."
    assert told(body="<noscript>You need to enable JavaScript.</noscript>") == EMPTY
