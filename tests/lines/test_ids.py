"""How an ID is minted, shown, and read back from what a model typed."""

from hashlib import sha256

import pytest

from fsagent_tools.lines.ids import STYLES, IdSet, echoes, mint, parse_id, split_ids, strip_echo


def seed(text):
    return sha256(text.encode()).hexdigest()[:6]


def test_an_id_is_the_hash_of_number_and_content():
    assert mint(7, [b"a", b""], IdSet()) == seed("7:a") + seed("8:")


def test_an_id_in_use_is_salted_until_it_is_free():
    used = IdSet(seed("1:a") + seed("1:a:1"))
    assert mint(1, [b"a"], used) == seed("1:a:2")
    assert seed("1:a:2") in used


def test_equal_lines_never_share_an_id():
    ids = split_ids(mint(1, [b"}"] * 5000, IdSet()))
    assert len(set(ids)) == 5000


def test_ids_stay_unique_in_a_file_where_hashes_collide():
    lines = [str(n).encode() for n in range(20_000)]
    plain = [seed(f"{n}:{n - 1}") for n in range(1, 20_001)]
    assert len(set(plain)) < 20_000
    assert len(set(split_ids(mint(1, lines, IdSet())))) == 20_000


@pytest.mark.parametrize(
    "typed",
    ["a3f2c1", "A3F2C1", " a3f2c1 ", "LID:a3f2c1", "[LID:a3f2c1]", "[a3f2c1]", "a3f2c1|",
     "[LID:a3f2c1] def f():", "a3f2c1|def f():", "[LID:a3f2c1]  ", "[LID:a3f2c1"],
)  # fmt: skip
def test_an_id_is_understood_with_what_stands_around_it(typed):
    assert parse_id(typed) == "a3f2c1"


@pytest.mark.parametrize(
    "typed",
    ["", "42", "a3f2c", "a3f2c1d", "g3f2c1", "a3f2c1 def", "line a3f2c1", "[LID:]", None, 5,
     ["a3f2c1"], "a3 f2c1", "０３f2c1"],
)  # fmt: skip
def test_what_is_no_id_is_none(typed):
    assert parse_id(typed) is None


@pytest.mark.parametrize(
    ("style", "line", "label"),
    [("tag", "[LID:a3f2c1] x", "[LID:a3f2c1]"), ("short", "a3f2c1|x", "a3f2c1")],
)
def test_a_style_shows_lines_and_labels(style, line, label):
    assert STYLES[style].lines("a3f2c1", b"x") == line
    assert STYLES[style].label("a3f2c1") == label
    assert parse_id(line) == parse_id(label) == "a3f2c1"


@pytest.mark.parametrize(
    ("line", "stripped"),
    [("[LID:a3f2c1] x", "x"), ("[LID:a3f2c1]   x", "  x"), ("[LID:a3f2c1]", ""), ("a3f2c1|x", "x"),
     ("[LID:ffffff] x", None), ("x [LID:a3f2c1] y", None), ("a3f2c1 x", None), ("", None)],
)  # fmt: skip
def test_a_read_prefix_of_a_known_id_is_stripped(line, stripped):
    assert strip_echo(line, IdSet("a3f2c1")) == stripped


def test_a_prefix_of_any_file_is_recognized():
    assert echoes(b"[LID:ffffff] x")
    assert not echoes(b"x [LID:ffffff]")


def test_a_set_of_ids_tells_which_are_new():
    used = IdSet("aaaaaabbbbbb")
    assert "aaaaaa" in used
    assert "abcdef" not in used
    assert used.without("bbbbbbabcdefaaaaaa0000ff") == "abcdef0000ff"
    assert used.claim(bytes.fromhex("abcdefaaaaaaabcdef")) == [1, 2]
    assert "abcdef" in used
