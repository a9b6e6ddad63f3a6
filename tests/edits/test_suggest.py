from fsagent_tools.edits.similarity import suggest
from tests.conftest import soon


def test_the_nearest_place_comes_first_with_its_lines():
    text = b"alpha\n" * 5 + b"def compute(total):\n\treturn total \n" + b"omega\n" * 5
    first, *_ = suggest(text, "def compute(totals):\n    return totals")
    assert (first.line, first.end_line) == (6, 7)
    assert first.similarity > 0.9


def test_lines_that_came_in_between_belong_to_the_place():
    text = b"top\nfirst = read(one)\n# came\nsecond = read(two)\nthird = read(three)\nend\n"
    (place, *_) = suggest(text, "first = read(one)\nsecond = read(two)\nthird = read(three)")
    assert (place.line, place.end_line) == (2, 5)


def test_a_place_that_two_guesses_lead_to_is_named_once():
    text = b"def f(flags):\n    flags = known(flags)\n    if not flags:\n        return False\n"
    text += b"    return wanted(flags)\n"
    (place,) = suggest(text, "        flags = known(flags)\n        return wanted(flags)")
    assert (place.line, place.end_line) == (2, 5)


def test_nothing_alike_suggests_nothing():
    assert suggest(b"abc\ndef\n", "zzzzzz") == []
    assert suggest(b"", "zzzzzz") == []
    assert suggest(b"abc\n", "\n \n") == []
    assert suggest(b"abc\n\n\ndef\n", "\n \n") == []
    assert suggest(b"abc\n", "abc", limit=0) == []


def test_suggestions_do_not_overlap_and_keep_to_the_limit():
    text = b"one line of text here\n" * 50
    places = suggest(text, "one line of text there\none line of text there", limit=2)
    assert len(places) <= 2
    lines = [n for place in places for n in range(place.line, place.end_line + 1)]
    assert len(lines) == len(set(lines))


def test_a_hostile_text_is_suggested_from_in_bounded_time():
    with soon():
        suggest(b"same line\n" * 200_000, "no such text at all in here\n" * 500)


def test_behind_the_last_newline_is_no_line():
    text = b"alpha\nthe quick brown fox jumps over\n"
    (place,) = suggest(text, "the quick brown fox jumped over\nzzz")
    assert (place.line, place.end_line) == (1, 2)


def test_one_crlf_line_is_one_line():
    (place,) = suggest(b"return x %s %b %%\r\n", "return x %s %b %%x\nfoo")
    assert (place.line, place.end_line) == (1, 1)


def test_a_line_feed_far_down_says_what_ends_the_lines():
    text = b"the quick brown fox jumps over\rstill the same line" + b"\r" * (5 << 20) + b"\n"
    (place,) = suggest(text, "the quick brown fox jumped over")
    assert (place.line, place.end_line) == (1, 1)
