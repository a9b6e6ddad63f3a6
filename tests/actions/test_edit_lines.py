"""edit_lines: what it takes for a slip, how that is confirmed, what one call may hold."""

import re

import pytest

from fsagent_tools.toolkit import tokens

CODE = "def f(x):\n    if x:\n        return 1\n    return 0\n\n\nprint(f(2))\n"


def name(session, line, path="a.py"):
    """The ID of 1-based `line`, in any style; blank lines of the style `words` have none."""
    shown = session.read(path, offset=line, limit=1).text
    return re.match(r"\[?(?:LID:)?([\w.]+)", shown)[1]


@pytest.fixture(params=["tag", "words"])
def any_style(sessions, root, request):
    (root / "a.py").write_text(CODE)
    session = sessions(line_ids=request.param)
    session.quotes = request.param == "words"
    return session


@pytest.fixture
def code(session, root):
    (root / "a.py").write_text(CODE)
    return session


def first_words(session, line, most=2):
    text = (session.root / "a.py").read_text().split("\n")
    return " ".join(" ".join(text[line - 1 :]).split()[:most])


def quoted(session, line, most=2):
    return f"{name(session, line)} {first_words(session, line, most)}"


def plain(session, line):
    return quoted(session, line, 2) if session.quotes else name(session, line)


def test_a_refused_slip_is_taken_only_with_more_quoted(any_style, root):
    change = {"line_id": plain(any_style, 2), "new_content": "    if x > 1:\n        return 1"}
    for _ in range(3):
        out = any_style.edit(change, path="a.py")
        assert out.code == "INVALID_CHANGE", out.text
        assert (root / "a.py").read_text() == CODE
    (way,) = re.findall(r"behind the ID:\n(.+)", out.text)
    out = any_style.edit({**change, "line_id": way}, path="a.py")
    assert out.ok, out.text
    assert (root / "a.py").read_text().count("return 1") == 2


def test_a_whole_line_may_be_quoted_and_run_on_into_the_next(any_style, root):
    (root / "a.py").write_text(CODE)
    line = f"{name(any_style, 3)}|        return 1\n    return 0"
    assert any_style.edit({"line_id": line, "new_content": "        return 3"}, path="a.py").ok
    assert (root / "a.py").read_text() == CODE.replace("return 1", "return 3")


@pytest.mark.parametrize("quote", ["return 0", "return 11", "x return"])
def test_words_that_are_not_those_of_the_line_are_refused_with_the_lines_around(
    any_style, root, quote
):
    change = {"line_id": f"{name(any_style, 3)} {quote}", "new_content": "        return 3"}
    out = any_style.edit(change, path="a.py")
    assert out.code == "INVALID_CHANGE"
    assert f"{name(any_style, 3)} return 1" in out.text
    assert "    if x:" in out.text
    assert (root / "a.py").read_text() == CODE


def test_words_must_be_quoted_behind_a_word(sessions, root):
    (root / "a.py").write_text(CODE)
    session = sessions(line_ids="words")
    for typed in (name(session, 3), f"{name(session, 3)} return"):
        out = session.edit({"line_id": typed, "new_content": "        return 3"}, path="a.py")
        assert out.code == "INVALID_CHANGE"
        assert f"{name(session, 3)} return 1" in out.text
    assert (root / "a.py").read_text() == CODE
    out = session.edit(
        {"line_id": quoted(session, 3), "new_content": "        return 3"}, path="a.py"
    )
    assert out.ok, out.text


def test_one_word_is_enough_for_a_line_of_one(sessions, root):
    (root / "a.py").write_text("f(\n)\n")
    session = sessions(line_ids="words")
    out = session.edit({"line_id": f"{name(session, 2)} )", "new_content": "  x)"}, path="a.py")
    assert out.ok, out.text


def test_a_confirmation_is_for_one_change_of_one_text(code, root):
    change = {"line_id": name(code, 2), "new_content": "    if x > 1:\n        return 1"}
    assert not code.edit(change, path="a.py").ok
    other = {"line_id": quoted(code, 2), "new_content": "    if x > 2:\n        return 1"}
    assert not code.edit(other, path="a.py").ok
    assert code.edit({**change, "line_id": quoted(code, 2)}, path="a.py").ok


def test_a_neighbour_that_goes_in_the_same_call_is_not_repeated(code, root):
    changes = [
        {"line_id": name(code, 2), "new_content": "    if x > 1:\n        return 1"},
        {"line_id": name(code, 3), "new_content": "        return 2"},
    ]
    assert code.edit(*changes, path="a.py").ok


def test_flat_text_gets_the_depth_of_its_place_when_only_that_parses(any_style, root):
    change = {"line_id": plain(any_style, 3), "new_content": "if x > 3:\n    return 3\nreturn 2"}
    out = any_style.edit(change, path="a.py")
    assert out.ok, out.text
    assert "re-indented by 8 columns, else it would not parse." in out.text
    new = "        if x > 3:\n            return 3\n        return 2"
    assert (root / "a.py").read_text() == CODE.replace("        return 1", new)


def test_the_depth_in_a_workflow_with_expressions_is_the_one_that_parses(session, root):
    text = "steps:\n  - name: on ${{ matrix.os }}\n    uses: a@v3\n    with:\n      x: 1\n"
    (root / "ci.yml").write_text(text)
    change = {"line_id": name(session, 3, "ci.yml"), "new_content": "  uses: a@v4"}
    out = session.edit(change, path="ci.yml")
    assert "re-indented by 2 columns, else it would not parse." in out.text
    assert (root / "ci.yml").read_text() == text.replace("v3", "v4")


def test_a_dedent_that_parses_is_asked_about_and_done_when_it_is_confirmed(code, root):
    change = {"line_id": name(code, 3), "new_content": "    # done"}
    out = code.edit(change, path="a.py")
    assert out.code == "INVALID_CHANGE", out.text
    assert "The first line would lose 4 columns of indentation." in out.text
    assert (root / "a.py").read_text() == CODE
    words = f"{change['line_id'].split()[0]} return 1"
    assert code.edit({**change, "line_id": words}, path="a.py").ok
    assert "\n    # done\n" in (root / "a.py").read_text()


BRACED = "void f() {\n    if (a) {\n        g();\n        h();\n        i();\n    }\n}\n"


def test_text_left_of_both_lines_around_it_is_asked_about(session, root):
    (root / "a.c").write_text(BRACED)
    change = {"line_id": name(session, 4, "a.c"), "new_content": "    h(1);"}
    out = session.edit(change, path="a.c")
    assert out.code == "INVALID_CHANGE", out.text
    assert "The first line would lose 4 columns of indentation." in out.text
    assert "As sent:\n    h(1);\nOr re-indented:\n        h(1);" in out.text
    assert session.edit({**change, "line_id": f"{name(session, 4, 'a.c')} h();"}, path="a.c").ok
    assert (root / "a.c").read_text() == BRACED.replace("        h();", "    h(1);")


@pytest.mark.parametrize("path", ["a.py", "a.go"])
def test_flat_text_that_parses_either_way_or_has_no_parser_is_asked_about(session, root, path):
    (root / path).write_text(CODE)
    change = {"line_id": name(session, 4, path), "new_content": "x = 2"}
    for _ in range(2):
        out = session.edit(change, path=path)
        assert out.code == "INVALID_CHANGE", out.text
        assert "As sent:\nx = 2\nOr re-indented:\n    x = 2" in out.text
    sure = {**change, "line_id": f"{name(session, 4, path)} return 0"}
    assert session.edit(sure, path=path).ok
    assert "\nx = 2\n" in (root / path).read_text()


def test_a_text_that_did_not_parse_before_says_nothing_about_depth(session, root):
    (root / "a.py").write_text("def f(:\n    return 1\n")
    out = session.edit({"line_id": name(session, 2), "new_content": "return 2"}, path="a.py")
    assert "Or re-indented" in out.text


def test_flat_text_put_into_a_block_gets_its_depth(code, root):
    out = code.edit({"after_line_id": name(code, 2), "new_content": "x = 1\nx += 1"}, path="a.py")
    assert not out.ok
    out = code.edit({"before_line_id": name(code, 3), "new_content": "x = 1\nx += 1"}, path="a.py")
    assert out.ok, out.text
    assert "        x = 1\n        x += 1\n        return 1" in (root / "a.py").read_text()


def test_one_line_may_be_replaced_and_have_text_on_both_sides_in_one_call(session, root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    two = session.ids()[1]
    changes = [
        {"after_line_id": two, "new_content": "after"},
        {"line_id": two, "new_content": "TWO"},
        {"before_line_id": two, "new_content": "before"},
    ]
    assert session.edit(*changes).ok
    assert (root / "a.txt").read_text() == "one\nbefore\nTWO\nafter\nthree\n"


def test_text_beside_a_range_goes_outside_it_and_never_inside(session, root):
    (root / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    _, two, three, _ = session.ids()
    gone = {"start_line_id": two, "end_line_id": three, "new_content": ""}
    out = session.edit(gone, {"after_line_id": two, "new_content": "x"})
    assert out.code == "INVALID_CHANGE"
    out = session.edit(
        gone,
        {"after_line_id": three, "new_content": "x"},
        {"before_line_id": two, "new_content": "y"},
    )
    assert out.ok, out.text
    assert (root / "a.txt").read_text() == "one\ny\nx\nfour\n"


def test_all_unknown_ids_are_named_at_once_with_lines_near_the_known_one(session, root):
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    known = session.ids()[79]
    out = session.edit(
        {"start_line_id": known, "end_line_id": "ffffff", "new_content": "x"},
        {"line_id": "000000", "new_content": "y"},
        {"line_id": "77", "new_content": "z"},
    )
    assert out.code == "UNKNOWN_LINE_ID"
    assert all(wrong in out.text for wrong in ("ffffff", "000000", "'77'"))
    assert "line 80\n" in out.text
    assert "line 8\n" not in out.text


def test_lines_shown_for_an_unknown_id_are_those_shown_last(session, root):
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    session.read(offset=60, limit=10)
    out = session.edit({"line_id": "ffffff", "new_content": "x"})
    assert "line 60\n" in out.text


def test_the_answer_says_each_line_once_with_its_id(any_style, root):
    out = any_style.edit(
        {"line_id": plain(any_style, 3), "new_content": "        return 3\n        # never"},
        path="a.py",
    )
    ids = [name(any_style, line) for line in (3, 4, 5)]
    number, one, two, then = out.text.split("\n")
    assert number == "@@ 3"
    assert one.startswith("+")
    assert one.endswith("        return 3")
    assert two.endswith("        # never")
    assert then == f"then: {ids[2]} return 0"
    assert all(word in row for word, row in zip(ids, (one, two, then), strict=True))
    assert out.to_dict()["output"].startswith("--- a/a.py\n+++ b/a.py\n@@ ")


def test_an_answer_s_ids_serve_the_next_edit(any_style, root):
    out = any_style.edit(
        {"line_id": plain(any_style, 3), "new_content": "        return 3"}, path="a.py"
    )
    (row,) = (line for line in out.text.split("\n") if line.startswith("+"))
    out = any_style.edit({"line_id": row[1:], "new_content": "        return 4"}, path="a.py")
    assert out.ok, out.text
    assert "return 4" in (root / "a.py").read_text()


@pytest.mark.parametrize("new", ["        return 2", "        x = 2\n        return x"])
def test_a_block_that_came_too_deep_is_asked_about_where_nobody_can_tell(any_style, root, new):
    (root / "a.go").write_text(CODE)
    name_of = name(any_style, 4, "a.go")
    change = {"line_id": f"{name_of} return 0" * any_style.quotes or name_of, "new_content": new}
    out = any_style.edit(change, path="a.go")
    assert "would gain 4 columns" in out.text
    assert {name_of, name(any_style, 3, "a.go")} <= {*re.findall(r"[\w.]+", out.text)}
    assert "Or re-indented:\n    " in out.text
    (way,) = re.findall(r"behind the ID:\n(.+)", out.text)
    assert any_style.edit({**change, "line_id": way}, path="a.go").ok
    assert f"\n{new}\n" in (root / "a.go").read_text()


def test_inserted_text_has_a_depth_of_the_lines_around_or_is_asked_about(session, root):
    (root / "a.go").write_text(CODE)
    place = {"before_line_id": name(session, 4, "a.go")}
    for new in ("x = 1", "            x = 1"):
        assert "Or re-indented" in session.edit({**place, "new_content": new}, path="a.go").text
    for new in ("        x = 1", "    x = 1"):
        assert session.edit({**place, "new_content": new}, path="a.go").ok


@pytest.mark.parametrize("above", ["if (x) {", "- an item", "12. an item"])
def test_a_deeper_line_follows_what_opens_a_block_or_a_list(session, root, above):
    (root / "a.txt").write_text(f"{above}\nlast\n")
    change = {"before_line_id": name(session, 2, "a.txt"), "new_content": "    - inner"}
    assert session.edit(change, path="a.txt").ok


def test_the_line_above_repeated_is_no_block_to_be_moved(code, root):
    new = "    if x:\n        return 2"
    out = code.edit({"line_id": name(code, 3), "new_content": new}, path="a.py")
    assert "repeats the line" in out.text
    assert (root / "a.py").read_text() == CODE


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("value = get()\nassert check(1) == 1\nassert check(2) == 2\n", "assert check(value) == 1"),
        ("user = load(ctx)\nsave(ctx, 'a')\nsave(ctx, 'b')\n", "save(ctx, user, 'a')"),
    ],
)
def test_the_next_line_with_a_name_of_the_line_that_was_named_is_asked_about(
    session, root, text, new
):
    (root / "a.txt").write_text(text)
    out = session.edit({"line_id": session.ids("a.txt")[0], "new_content": new})
    assert "One line off?" in out.text
    assert (root / "a.txt").read_text() == text


WRAPPED = '<div class="page">\n  <a href="x">\n  </a>\n  <h1>Title</h1>\n</div>\n'


def test_a_line_that_is_kept_tells_nothing_of_a_change_of_one_line(session, root):
    (root / "a.txt").write_text("session.begin()\nsession.commit()\nsession.close()\ndone()\n")
    new = "session.flush(x)\nsession.commit()\nsession.close(now)"
    out = session.edit({"line_id": session.ids("a.txt")[1], "new_content": new})
    assert "One line off?" in out.text


def test_a_function_in_place_of_the_last_line_of_another_is_asked_about(session, root):
    (root / "a.py").write_text("def f(x):\n    a = 1\n    return a\n\ndef h():\n    return 2\n")
    change = {"line_id": session.ids("a.py")[2], "new_content": "\ndef g():\n    return 3\n\n"}
    out = session.edit(change, path="a.py")
    assert "would lose 4 columns" in out.text


def functions(count):
    names = ("alpha", "beta", "gamma", "delta")
    return "".join(
        f"def f{k}(x):\n" + "".join(f"    {name} = {name}_{k}(x)\n" for name in names)
        for k in range(count)
    )


@pytest.mark.parametrize("new", ["q = zeta(1)", "    alpha = alpha_{}(x)"])
def test_a_doubt_that_is_not_printed_shows_no_lines(session, root, new):
    (root / "a.txt").write_text(text := functions(4))
    ids = session.ids("a.txt")
    end = "    delta = delta_3(x)\n"
    (root / "a.txt").write_text(text := text.replace(end, "    kept = keep(3)\n" + end))
    out = session.edit(
        *({"line_id": ids[5 * k + 2], "new_content": new.format(k)} for k in range(4))
    )
    assert "(and 1 more)" in out.text
    change = {"start_line_id": ids[18], "end_line_id": ids[19], "new_content": "    both = 1"}
    assert session.edit(change).code == "STALE_LINE_IDS"
    assert (root / "a.txt").read_text() == text


def test_a_doubt_that_was_not_read_is_not_confirmed(session, root):
    (root / "a.txt").write_text(functions(4))
    ids = session.ids("a.txt")
    slips = [{"line_id": ids[5 * k + 2], "new_content": "q = zeta(1)"} for k in range(4)]
    assert "(and 1 more)" in session.edit(*slips).text
    quoted = [{**slip, "line_id": f"{slip['line_id']} beta ="} for slip in slips]
    out = session.edit(*quoted)
    assert not out.ok
    assert f"{ids[17]} beta = beta_3(x)" in out.text  # more is asked for, of that one alone
    assert ids[2] not in out.text
    quoted[3]["line_id"] += " beta_3(x)"
    assert session.edit(*quoted).ok


def test_a_doubt_that_was_confirmed_shows_no_lines(session, root):
    (root / "a.txt").write_text(text := functions(2))
    ids = session.ids("a.txt")
    slip = {"line_id": ids[2], "new_content": "q = zeta(1)"}
    assert not session.edit(slip).ok
    (root / "a.txt").write_text(text := text.replace("    delta = delta_0", "  delta = delta_0"))
    slip["line_id"] += " beta ="
    assert not session.edit(slip, {"line_id": ids[8], "new_content": "q = zeta(2)"}).ok
    out = session.edit({"line_id": ids[4], "new_content": "    delta = delta_0(x, 1)"})
    assert out.code == "STALE_LINE_IDS"
    assert (root / "a.txt").read_text() == text


def test_a_line_one_blank_deeper_than_a_list_item_is_asked_about(session, root):
    (root / "a.md").write_text("- one\n- two\n- three\n")
    change = {"before_line_id": name(session, 2, "a.md")}
    assert not session.edit({**change, "new_content": " - between"}, path="a.md").ok
    assert session.edit({**change, "new_content": "  - inner"}, path="a.md").ok


def test_tabs_in_the_place_of_blanks_are_named(session, root):
    (root / "a.go").write_text(CODE)
    change = {"line_id": name(session, 3, "a.go"), "new_content": "\t\treturn 2"}
    assert "Tabs and blanks" in session.edit(change, path="a.go").text


TABS = "func f() {\n\tif x {\n\t\ta()\n\t}\n\tb()\n}\n"
BLANKS = TABS.replace("\t", "    ")


@pytest.mark.parametrize(
    ("there", "lines", "sent", "right"),
    [
        (TABS, (2, 4), "    if y {\n        c()\n    }", "\tif y {\n\t\tc()\n\t}"),
        (TABS, (2, 4), "  if y {\n    c(1,\n      2)\n  }", "\tif y {\n\t\tc(1,\n\t\t\t2)\n\t}"),
        (TABS, (2, 2), "    if y(1,\n         2) {", "\tif y(1,\n\t\t 2) {"),
        (TABS, (3, 4), "        c()\n    }", "\t\tc()\n\t}"),
        (BLANKS, (2, 4), "\tif y {\n\t\tc()\n\t}", "    if y {\n        c()\n    }"),
        (BLANKS, (3, 4), "\t\tc()\n\t}", "        c()\n    }"),
    ],
)
def test_tabs_for_blanks_are_asked_about_in_the_units_of_the_file(
    session, root, there, lines, sent, right
):
    (root / "a.go").write_text(there)
    first, last = (session.ids("a.go")[n - 1] for n in lines)
    change = {"start_line_id": first, "end_line_id": last, "new_content": sent}
    out = session.edit(change, path="a.go")
    shown = right.split("\n")[0]
    assert f"Or re-indented:\n{shown}\n" in out.text
    assert (root / "a.go").read_text() == there


def test_what_is_in_a_text_of_several_lines_keeps_its_tabs(session, root):
    (root / "a.py").write_text("def f():\n    x = 0\n    return x\n")
    new = "\tx = '''\nall:\n\tcc a\n'''"
    assert session.edit({"line_id": name(session, 2), "new_content": new}, path="a.py").ok
    assert "\n    x = '''\nall:\n\tcc a\n" in (root / "a.py").read_text()


@pytest.mark.parametrize("level", [" ", "    "])
def test_a_block_without_indentation_in_the_place_of_a_tab_is_asked_about(session, root, level):
    (root / "a.go").write_text(TABS)
    change = {"line_id": name(session, 2, "a.go"), "new_content": f"if y {{\n{level}c()"}
    assert session.edit(change, path="a.go").code == "INVALID_CHANGE"
    assert (root / "a.go").read_text() == TABS


def test_a_level_of_the_block_is_never_taken_for_two(session, root):
    (root / "a.py").write_text("def f(y):\n\tif y:\n\t\tx = 1\n\t\treturn x\n")
    new = "    if y:\n        z()\n    x = 3"
    session.edit({"line_id": name(session, 3), "new_content": new}, path="a.py")
    assert "\t\t\t\tz()" not in (root / "a.py").read_text()


def test_blanks_for_tabs_with_which_python_does_not_parse_become_tabs(session, root):
    (root / "a.py").write_text("def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2\n")
    out = session.edit(
        {"line_id": name(session, 3), "new_content": "        return 3"}, path="a.py"
    )
    assert "else it would not parse" in out.text
    assert (root / "a.py").read_text() == "def f(x):\n\tif x:\n\t\treturn 3\n\treturn 2\n"


@pytest.mark.parametrize(("path", "way"), [("a.py", "`write`"), ("a.ipynb", "`write`")])
def test_what_has_no_lines_to_address_is_not_to_be_read_again(session, root, path, way):
    (root / path).write_text("" if path == "a.py" else '{"cells": [], "nbformat": 4}')
    session.read(path)
    out = session.edit({"line_id": "a3f2c1", "new_content": "x = 1"}, path=path)
    assert way in out.text
    assert "Read the file" not in out.text


def test_a_byte_order_mark_that_comes_along_is_not_written_twice(session, root):
    (root / "a.py").write_bytes(b"\xef\xbb\xbfimport os\nx = 1\n")
    change = {"line_id": name(session, 1), "new_content": "\ufeffimport sys"}
    assert session.edit(change, path="a.py").ok
    assert (root / "a.py").read_bytes() == b"\xef\xbb\xbfimport sys\nx = 1\n"


RED = "red = paint(1)\ngreen = mix(2)\nblue = wash(3, 4)\n"


@pytest.mark.parametrize(("line", "new"), [(2, "blue = wash(3, 5)"), (2, "red = paint(11)")])
def test_text_like_a_neighbour_is_asked_about_unless_the_line_is_quoted(session, root, line, new):
    (root / "a.txt").write_text(RED)
    change = {"line_id": name(session, line, "a.txt"), "new_content": new}
    for _ in range(2):
        out = session.edit(change)
        assert "One line off?" in out.text
        assert (root / "a.txt").read_text() == RED
    assert session.edit({**change, "line_id": f"{change['line_id']} green"}).ok


def test_both_ends_that_do_not_begin_as_quoted_are_named_with_the_lines_meant(session, root):
    (root / "a.txt").write_text("".join(f"line {n} of many\n" for n in range(40)))
    ids = session.ids()
    change = {"start_line_id": f"{ids[5]} line 4", "end_line_id": f"{ids[30]} line 31"}
    out = session.edit({**change, "new_content": "x"})
    assert f"Did you mean '{ids[4]} line 4', '{ids[31]} line 31'?" in out.text
    assert all(f"[LID:{ids[n]}] line {n} of many" in out.text for n in (4, 31))


def test_the_words_of_a_line_without_its_id_are_answered_by_that_line(any_style, root):
    (root / "a.txt").write_text("".join(f"of many {n}\n" for n in range(40)))
    place = name(any_style, 8, "a.txt")
    out = any_style.edit({"line_id": "of many 7", "new_content": "x"}, path="a.txt")
    assert f"Did you mean '{place} of many'?" in out.text


def test_lines_that_are_all_alike_are_not_asked_about(session, root):
    (root / "a.txt").write_text("".join(f"item_{n} = load({n})\n" for n in range(9)))
    change = {"line_id": name(session, 4, "a.txt"), "new_content": "item_4 = load(4)  # twice"}
    assert session.edit(change).ok


def test_a_clipped_line_may_be_quoted_as_it_was_shown(any_style, root):
    (root / "a.py").write_text(f"top\n{'long ' * 1000}\nlast\n")
    shown = any_style.read("a.py", offset=2, limit=1)
    assert any_style.read("a.py").text.count("more characters") == 1
    row = next(row for row in any_style.read("a.py").text.split("\n") if "more char" in row)
    assert shown.ok
    change = {"after_line_id": row, "new_content": "new"}
    out = any_style.edit(change, path="a.py")
    assert out.ok, out.text
    assert (root / "a.py").read_text().endswith("long \nnew\nlast\n")


def test_where_the_file_ends_a_slip_is_confirmed_with_the_lines_beside(any_style, root):
    (root / "a.txt").write_text("top\nmiddle\nlast\n")
    first, last = (
        f"{name(any_style, n, 'a.txt')} {word}" for n, word in ((2, "middle"), (3, "last"))
    )
    out = any_style.edit({"line_id": last, "new_content": "middle\nend"})
    assert "make the lines beside it part of the change" in out.text
    whole = {"start_line_id": first, "end_line_id": last, "new_content": "middle\nmiddle\nend"}
    assert any_style.edit(whole).ok
    assert (root / "a.txt").read_text() == "top\nmiddle\nmiddle\nend\n"


REFUSED = {
    "no changes": [],
    "an unknown ID": [{"line_id": "nothing", "new_content": "x"}],
    "the same text": [{"line_id": 2, "new_content": "    if x:"}],
    "left out": [{"line_id": 2, "new_content": "    if y:\n    # ... existing code ..."}],
    "nothing inserted": [{"after_line_id": 2, "new_content": ""}],
    "one line twice": [{"line_id": 2, "new_content": f"    y = {n}"} for n in (1, 2)],
    "reversed": [{"start_line_id": 4, "end_line_id": 2, "new_content": "x"}],
    "foreign IDs": [{"line_id": 2, "new_content": "[LID:a3f2c1] x"}],
    "one place twice": [
        {"after_line_id": 2, "new_content": "        y = 1"},
        {"before_line_id": 3, "new_content": "        y = 1"},
    ],
    "there already": [{"after_line_id": 3, "new_content": "        return 1\n    return 0"}],
    "a lone surrogate": [{"line_id": 2, "new_content": "\ud800"}],
    "no such shape": [{"start_line_id": 2, "new_content": "x"}],
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_stays_short_but_for_the_lines_it_shows(any_style, root, case):
    count = tokens.counter() or pytest.skip("no tokenizer")
    changes = [
        {k: plain(any_style, v) if type(v) is int else v for k, v in change.items()}
        for change in REFUSED[case]
    ]
    out = any_style.edit(*changes, path="a.py")
    assert not out.ok
    told = [row for row in out.text.split("\n") if not LINE.match(row)]
    assert count("\n".join(told)) < 120, out.text
    assert (root / "a.py").read_text() == CODE


LINE = re.compile(r"\[LID:|[0-9a-f]{6}\||[a-z.]{3,}\t|$")


def test_when_the_last_line_feed_goes_carriage_returns_end_lines(session, root):
    (root / "a.txt").write_bytes(b"one\ntwo\rthree")
    out = session.edit({"line_id": name(session, 1, "a.txt"), "new_content": ""})
    _, last = re.findall(r"LID:(\w+)", out.text)
    assert session.edit({"line_id": last, "new_content": "3"}).ok
    assert (root / "a.txt").read_bytes() == b"two\r3"


def shape(out):
    """The answer without IDs."""
    return re.sub(r"\b[a-z]{3}\t|(?<=: )(?!the )[a-z]{3} ", "", out.text)


def test_each_change_is_told_under_its_number(sessions, root):
    (root / "a.py").write_text(CODE)
    session = sessions(line_ids="words")
    changes = [
        {"line_id": quoted(session, 3), "new_content": "        return 3"},
        {"line_id": quoted(session, 7), "new_content": "print(f(7))"},
    ]
    out = session.edit(*changes, path="a.py")
    assert shape(out) == "@@ 3\n+        return 3\n@@ 7\n+print(f(7))"
    assert [name(session, line) for line in (3, 7)] == re.findall(r"\w+(?=\t)", out.text)
    assert "-        return 1" in out.to_dict()["output"]
    after = {"after_line_id": quoted(session, 3), "new_content": "        x"}
    out = session.edit(after, path="a.py")
    assert shape(out) == "@@ 4\n+        x\nthen: return 0"
    over = {"start_line_id": quoted(session, 2), "end_line_id": quoted(session, 4)}
    out = session.edit({**over, "new_content": ""}, path="a.py")
    assert shape(out) == "@@ 2\n-    if x:\n-        return 3\n-        x\nthen: return 0"
    out = session.edit({"line_id": quoted(session, 2), "new_content": "    y\n    z"}, path="a.py")
    assert shape(out) == "@@ 2\n+    y\n+    z\nthen 2 blank lines: print(f(7))"
    out = session.edit({"line_id": quoted(session, 6), "new_content": ""}, path="a.py")
    assert shape(out) == "@@ 6\n-print(f(7))\nthen: the end"
    two = [
        {"after_line_id": quoted(session, 1), "new_content": text} for text in ("    a", "    b")
    ]
    out = session.edit(*two, path="a.py")
    assert shape(out) == "@@ 2\n+    a\n+    b\nthen: y"


@pytest.mark.parametrize("style", ["tag", "words"])
def test_of_many_lines_the_middle_is_told_by_its_ids(sessions, root, style):
    session = sessions(line_ids=style)
    (root / "a.txt").write_text("first = 1\nlast = 1\n")
    new = "\n".join(f"value {n} = {n}" if n % 10 else "" for n in range(90))
    out = session.edit(
        {"after_line_id": name(session, 1, "a.txt") + " first =", "new_content": new}, path="a.txt"
    )
    rows = out.text.split("\n")
    assert (rows[0], len(rows), rows[11]) == (
        "@@ 2",
        93 - 7,
        "(70 lines by ID and first words, without blank ones:)",
    )
    assert rows[-1] == f"then: {name(session, 92, 'a.txt')} last ="
    for line, row in ((3, rows[2]), (41, next(row for row in rows if row.endswith("value 39")))):
        assert name(session, line, "a.txt") in row
    (named,) = (row[1:] for row in rows if row.endswith(" value 39"))
    assert session.edit({"line_id": named, "new_content": ""}, path="a.txt").ok
    change = {"start_line_id": f"{name(session, 3, 'a.txt')} value 1", "end_line_id": rows[-1][6:]}
    out = session.edit({**change, "new_content": ""}, path="a.txt")
    assert out.text.split("\n")[1:-1] == ["-value 1 = 1", "(87 lines)", "-last = 1"]


@pytest.mark.parametrize("line", [r"'é': r'\u00e9',", r"""print("Can't open \n")""", "say `path`"])
def test_a_refusal_has_the_words_to_quote_as_they_are_to_be_sent(any_style, root, line):
    (root / "a.txt").write_text(f"first line\n{line}\nlast line\n")
    place = name(any_style, 2, "a.txt")
    words = " ".join([*line.split(), "last"][:2])
    change = {"line_id": f"{place} {words}" * any_style.quotes or place}
    out = any_style.edit({**change, "new_content": "other\nlast line"}, path="a.txt")
    (way,) = re.findall(r"behind the ID:\n(.+)", out.text)
    assert way.startswith(f"{place} {line}"[: len(way)])
    out = any_style.edit({"line_id": way, "new_content": "other\nlast line"}, path="a.txt")
    assert out.ok, out.text


@pytest.mark.parametrize("depth", [0, 4, 8])
def test_text_that_is_put_before_the_end_of_blocks_may_belong_to_any_of_them(session, root, depth):
    (root / "a.css").write_text("x {\n    font:\n        Arial,\n        Sans;\n}\n")
    change = {"before_line_id": name(session, 5, "a.css")}
    assert session.edit({**change, "new_content": f"{' ' * depth}y: z;"}, path="a.css").ok
    for other in (2, 5, 12):
        out = session.edit({**change, "new_content": f"{' ' * other}w: z;"}, path="a.css")
        assert "Or re-indented" in out.text


@pytest.mark.parametrize("slip", [1, -4])
def test_a_block_that_runs_on_into_outer_ones_is_moved_where_else_it_would_not_parse(
    any_style, root, slip
):
    (root / "a.py").write_text("class A:\n    def f(self):\n        a()\n        return 1\n")
    lines = ["        return 2", "", "    def g(self):", "        return 3"]
    moved = [" " * slip + line if slip > 0 and line else line[-slip:] for line in lines]
    change = {"line_id": plain(any_style, 4), "new_content": "\n".join(moved)}
    out = any_style.edit(change, path="a.py")
    assert f"re-indented by {abs(slip)} column" in out.text, out.text
    text = "class A:\n    def f(self):\n        a()\n" + "\n".join(lines) + "\n"
    assert (root / "a.py").read_text() == text


def test_a_block_that_ends_others_is_taken_as_sent_where_nobody_can_tell(session, root):
    (root / "a.go").write_text("if x {\n    a()\n}\n")
    change = {"line_id": name(session, 3, "a.go"), "new_content": "    b()\n}\nc()"}
    assert session.edit(change, path="a.go").ok
    assert (root / "a.go").read_text() == "if x {\n    a()\n    b()\n}\nc()\n"


@pytest.mark.parametrize("new", ["     c();", "   c();"])
def test_a_line_that_is_one_blank_off_is_put_right_where_it_parses_either_way(session, root, new):
    (root / "a.js").write_text("if (x) {\n    a();\n    b();\n}\n")
    out = session.edit({"line_id": name(session, 3, "a.js"), "new_content": new}, path="a.js")
    assert out.ok, out.text
    assert "re-indented by 1 column, like the lines there." in out.text
    assert (root / "a.js").read_text() == "if (x) {\n    a();\n    c();\n}\n"
