"""How an ID is shown, and read back from what a model typed."""

import pytest

from fsagent_tools.lines.ids import (
    STYLES,
    IdSet,
    Typed,
    id_of,
    id_words,
    mint_words,
    split_ids,
    word_of,
)
from fsagent_tools.lines.source import Window

TAG, WORDS = STYLES["tag"], STYLES["words"]
AMP, TWO, BLANK = id_of("amp"), id_of("amp.bek"), "000080"


@pytest.mark.parametrize(
    "typed",
    ["a3f2c1", "A3F2C1", " a3f2c1 ", "LID:a3f2c1", "[LID:a3f2c1]", "[a3f2c1]", "a3f2c1|",
     "[LID:a3f2c1]  ", "[LID:a3f2c1"],
)  # fmt: skip
def test_an_id_is_understood_with_what_stands_around_it(typed):
    assert TAG.parse(typed) == Typed("a3f2c1", "", "a3f2c1")


@pytest.mark.parametrize(
    "typed",
    ["[LID:a3f2c1] def f():", "a3f2c1|def f():", "a3f2c1 def f():", "a3f2c1|    def f():",
     "[LID:a3f2c1]:def f():", "LID:a3f2c1 def f():"],
)  # fmt: skip
def test_what_is_quoted_behind_an_id_is_kept(typed):
    assert TAG.parse(typed) == Typed("a3f2c1", "def f():", "a3f2c1")


@pytest.mark.parametrize(
    "typed",
    ["", "42", "a3f2c", "a3f2c1d", "g3f2c1", "line a3f2c1", "[LID:]",
     "a3 f2c1", "０３f2c1", "amp"],
)  # fmt: skip
def test_what_is_no_id_is_none(typed):
    assert TAG.parse(typed).line_id is None


@pytest.mark.parametrize(
    ("typed", "line_id", "quote"),
    [("amp", AMP, ""), ("Amp", AMP, ""), ("amp return x", AMP, "return x"), ("[LID:amp]", AMP, ""),
     ("amp\t    return x", AMP, "return x"), ("amp|x", AMP, "x"), ("amp.bek x", TWO, "x"),
     ("amp .x()", AMP, ".x()"), ("amp | a | b |", AMP, "| a | b |")],
)  # fmt: skip
def test_a_word_is_understood_with_the_line_behind_it(typed, line_id, quote):
    parsed = WORDS.parse(typed)
    assert (parsed.line_id, parsed.quote) == (line_id, quote)


@pytest.mark.parametrize("typed", ["", "am", "ampx", "amp_x", "a3f2c1", "amp.", "amp.x", "1"])
def test_what_is_no_word_of_the_list_is_none(typed):
    assert WORDS.parse(typed).line_id is None


@pytest.mark.parametrize(
    ("style", "line_id", "line", "label"),
    [("tag", "a3f2c1", "[LID:a3f2c1] x", "[LID:a3f2c1]"), ("words", AMP, "amp\tx", "amp"),
     ("words", TWO, "amp.bek\tx", "amp.bek")],
)  # fmt: skip
def test_a_style_shows_lines_and_labels(style, line_id, line, label):
    shown = STYLES[style]
    assert shown.lines(line_id, b"x") == shown.line(shown.spelled(line_id), "x") == line
    assert shown.label(shown.spelled(line_id)) == label
    name = shown.spelled(line_id)
    assert shown.parse(line) == Typed(name, "x", line_id)
    assert shown.parse(label) == Typed(name, "", line_id)


def test_a_blank_line_carries_no_word():
    ids = WORDS.mint(Window(0, 4, b"a\n\n \t\nb", b"\n"), IdSet())
    a, first, second, b = split_ids(ids)
    assert (word_of(first), word_of(second)) == ("", "")
    assert WORDS.lines(ids, b"a\n\n \t\nb") == f"{word_of(a)}\ta\n\n \t\n{word_of(b)}\tb"


def test_what_is_minted_for_one_text_marks_no_other():
    windows = [
        Window(0, len(text), b"\n".join(text), b"\n") for text in ([b"a", b"", b"b"], [b"c"])
    ]
    ids = [WORDS.mint(window, IdSet()) for window in windows]
    for window, minted in [*zip(windows, ids, strict=True)] * 2:
        rows = [
            f"{word_of(one)}\t{line.decode()}" if line else ""
            for one, line in zip(split_ids(minted), window.lines, strict=True)
        ]
        assert WORDS.lines(minted, window.text) == "\n".join(rows)


def test_a_part_of_a_window_has_its_lines():
    for newline in (b"\n", b"\r", b"\r\n"):
        raw = newline.join([b"a b", b"", b" c", b"d", b"", b""])
        window = Window(3, 5, raw, newline[-1:])
        assert window.bare == [b"ab", b"", b"c", b"d", b""]
        for stop in range(4, 9):
            part = window.part(4, stop)
            assert (part.start, part.stop) == (4, stop)
            assert part.lines == window.lines[1 : stop - 3]
            assert part.bare == window.bare[1 : stop - 3]


def test_words_are_single_as_long_as_there_are_any_and_never_given_out_twice():
    used = IdSet()
    first = split_ids(mint_words(1, [b"x"] * 1000, used))
    more = split_ids(mint_words(5, [b"y"] * 1000, used))
    shown = [word_of(line_id) for line_id in first + more]
    assert len({*shown}) == 2000
    assert {len(word) for word in shown[: len(id_words())]} == {3}
    assert {len(word) for word in shown[len(id_words()) :]} == {7}
    assert [id_of(word) for word in shown] == first + more


def test_the_words_of_near_lines_are_not_alike():
    shown = [word_of(line_id) for line_id in split_ids(mint_words(1, [b"x"] * 1345, IdSet()))]
    pairs = [(a, b) for n, a in enumerate(shown) for b in shown[n + 1 : n + 9]]
    alike = sum(sum(x != y for x, y in zip(a, b, strict=True)) < 2 for a, b in pairs)
    assert alike < len(pairs) / 200


def test_files_begin_with_different_words():
    firsts = {mint_words(1, [b"import %d" % n], IdSet()) for n in range(20)}
    assert len(firsts) > 15


@pytest.mark.parametrize("style", [TAG, WORDS], ids=str)
@pytest.mark.parametrize("lines", [1345, 1345 * 3, 7])
def test_the_mark_before_a_line_is_the_one_that_names_its_id(style, lines):
    texts = [b"", *[b"x", b" "] * lines]
    ids = style.mint(Window(6, len(texts), b"\n".join([*texts, b""]), b"\n"), IdSet())
    shown = style.lines(ids, b"\n".join(texts)).split("\n")
    for row, line_id, text in zip(shown, split_ids(ids), texts, strict=True):
        name = style.spelled(line_id)  # of words none, for a blank line
        assert row == (style.line(name, "") if name else "") + text.decode()


def test_even_a_huge_number_of_lines_have_words():
    last = (1 << 23) - 1
    spelled = word_of(last.to_bytes(3, "little").hex())
    assert id_of(spelled) == last.to_bytes(3, "little").hex()
    assert word_of(BLANK) == ""
    assert id_of(".".join(["amp"] * 9)) is None


@pytest.mark.parametrize(
    ("line", "stripped"),
    [("[LID:a3f2c1] x", "x"), ("[LID:a3f2c1]   x", "  x"), ("[LID:a3f2c1]", ""), ("a3f2c1|x", "x"),
     ("+[LID:a3f2c1] x", "x"), (" a3f2c1|x", "x"), ("[LID:ffffff] x", None),
     ("x [LID:a3f2c1] y", None), ("a3f2c1 x", "x"), ("a3f2c1x", None), ("", None)],
)  # fmt: skip
def test_a_read_prefix_of_a_known_id_is_stripped(line, stripped):
    assert TAG.strip_echo(line, IdSet("a3f2c1")) == stripped


def test_a_word_is_stripped_only_where_this_file_knows_it():
    assert WORDS.strip_echo("amp\t  x", IdSet(AMP)) == "  x"
    assert WORDS.strip_echo("+amp\t  x", IdSet(AMP)) == "  x"
    assert WORDS.strip_echo("amp x", IdSet(AMP)) is None
    assert WORDS.strip_echo("amp\tx", IdSet()) is None
    assert WORDS.strip_echo("zzq\tx", IdSet(AMP)) is None


@pytest.mark.parametrize("words", ["Returns a", '"Returns a', '"""Returns a', ""])
def test_signs_before_the_first_word_need_not_be_quoted(root, session, words):
    (root / "a.txt").write_text('x\n    """Returns a value."""\n')
    line_id = session.ids()[1]
    assert session.edit({"line_id": f"{line_id} {words}", "new_content": "    y"}).ok


def test_other_words_are_other_words(root, session):
    (root / "a.txt").write_text('x\n    """Returns a value."""\n')
    line_id = session.ids()[1]
    for words in ("Return of", "x", "- Returns b"):
        out = session.edit({"line_id": f"{line_id} {words}", "new_content": "    y"})
        assert out.code == "INVALID_CHANGE"
