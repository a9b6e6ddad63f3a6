"""Notebooks are read and changed by the cell, and nothing else in their JSON changes."""

import json

import pytest

from fsagent_tools import Policy, Workspace, toolset

CODE = {
    "cell_type": "code",
    "execution_count": 2,
    "id": "aa",
    "metadata": {"scale": 1e-05},
    "outputs": [{"name": "stdout", "output_type": "stream", "text": ["total 3\n"]}],
    "source": ["import os\n", 'print("total", 3)'],
}
TEXT = {"cell_type": "markdown", "id": "bb", "metadata": {}, "source": "# Title\n\nWords."}
EMPTY = {**CODE, "id": "cc", "outputs": [], "execution_count": None, "source": []}
BOOK = {"cells": [CODE, TEXT, EMPTY], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
FORMS = {
    "jupyter": lambda book: json.dumps(book, indent=1, ensure_ascii=False) + "\n",
    "no last newline": lambda book: json.dumps(book, indent=2, ensure_ascii=False),
    "one line": lambda book: json.dumps(book),
    "tabs, escaped": lambda book: json.dumps({**book, "metadata": {"t": "\u00e9"}}, indent="\t"),
}


@pytest.fixture(params=FORMS)
def raw(request):
    return FORMS[request.param](BOOK)


@pytest.fixture
def book(root, raw):
    path = root / "a.ipynb"
    path.write_text(raw)
    return path


@pytest.fixture
def tools(root):
    workspace = Workspace(root, policy=Policy(readonly=False))
    return {**toolset("workspace").bind(workspace), **toolset("filesystem").bind(workspace)}


def lines(tools):
    """(ID, text) of each line as `read` shows it."""
    read = toolset("workspace").bind(tools["read"].workspace)["read"]
    shown = read.call({"file_path": "a.ipynb"}).text.split("\n")
    return [(line[5:11], line[13:]) for line in shown]


def change(tools, **asked):
    return tools["edit_lines"].call({"file_path": "a.ipynb", "changes": [asked]})


def test_cells_are_read_with_ids_and_their_outputs_as_text(book, tools):
    assert [text for _, text in lines(tools)] == [
        "--- cell 1 of 3: code [2] ---",
        "import os",
        'print("total", 3)',
        "output:",
        "total 3",
        "--- cell 2 of 3: markdown ---",
        "# Title",
        "",
        "Words.",
        "--- cell 3 of 3: code ---",
        "",
    ]


def test_a_line_of_a_cell_is_changed_and_every_other_byte_stays(book, raw, tools):
    ids = dict(map(reversed, lines(tools)))
    assert change(tools, line_id=ids["Words."], new_content="Other \u00e9 words.").ok
    escaped = "Other \\u00e9 words." if "\\u" in raw else "Other \u00e9 words."
    assert book.read_text() in (
        raw.replace("Words.", escaped),
        raw.replace("Words.", "Other \u00e9 words."),
    )
    ids = dict(map(reversed, lines(tools)))
    assert change(tools, line_id=ids['print("total", 3)'], new_content="print(4)\nprint(5)").ok
    new = json.loads(book.read_text())
    assert new["cells"][0] == {**CODE, "source": ["import os\n", "print(4)\n", "print(5)"]}
    assert new["cells"][1]["source"] == "# Title\n\nOther \u00e9 words."
    assert new["cells"][2] == EMPTY


def test_cells_are_inserted_and_deleted_by_their_header(book, raw, tools):
    ids = dict(map(reversed, lines(tools)))
    new = "--- cell: markdown ---\n## Next"
    assert change(tools, after_line_id=ids["Words."], new_content=new).ok
    cells = json.loads(book.read_text())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "markdown", "code"]
    assert "".join(cells[2]["source"]) == "## Next"
    assert cells[2]["id"] not in ("aa", "bb", "cc")
    assert [cells[0], cells[1], cells[3]] == BOOK["cells"]
    ids = dict(map(reversed, lines(tools)))
    assert change(tools, line_id=ids["--- cell 3 of 4: markdown ---"], new_content="").ok
    assert book.read_text() == raw
    ids = dict(map(reversed, lines(tools)))
    whole = {"start_id": ids["--- cell 2 of 3: markdown ---"], "end_id": ids["Words."]}
    assert change(tools, **whole, new_content="").ok
    assert json.loads(book.read_text())["cells"] == [CODE, EMPTY]


def test_quoting_tools_and_insert_change_a_source(book, tools):
    lines(tools)
    asked = {"file_path": "a.ipynb", "old_string": "import os\nprint", "new_string": "print"}
    assert tools["edit"].call(asked).ok
    assert json.loads(book.read_text())["cells"][0]["source"] == ['print("total", 3)']


def test_text_of_outputs_stays_as_it_is(book, raw, tools):
    ids = dict(map(reversed, lines(tools)))
    out = change(tools, line_id=ids["total 3"], new_content="total 4")
    assert "The text of an output would change" in out.text
    assert book.read_text() == raw


def test_new_lines_among_an_output_are_not_lost(book, raw, tools):
    ids = dict(map(reversed, lines(tools)))
    header = next(line for line in ids if line.startswith("--- cell 2 of 3"))
    below = {"before_line_id": ids[header], "new_content": "c = 3"}
    changes = [{"line_id": ids["import os"], "new_content": "import re"}, below]
    out = tools["edit_lines"].call({"file_path": "a.ipynb", "changes": changes})
    assert "The text of an output would change" in out.text
    assert book.read_text() == raw


def test_a_kind_that_changes_in_a_header_changes_the_cell(book, tools):
    ids = dict(map(reversed, lines(tools)))
    header = "--- cell 1 of 3: markdown ---"
    assert change(tools, line_id=ids["--- cell 1 of 3: code [2] ---"], new_content=header).ok
    cell = json.loads(book.read_text())["cells"][0]
    assert (cell["cell_type"], "outputs" in cell) == ("markdown", False)


def test_a_header_that_loses_its_number_is_still_the_cells(book, tools):
    ids = dict(map(reversed, lines(tools)))
    header = ids["--- cell 2 of 3: markdown ---"]
    assert change(tools, line_id=header, new_content="--- cell: raw ---").ok
    cells = json.loads(book.read_text())["cells"]
    assert cells == [
        CODE,
        {**TEXT, "cell_type": "raw", "source": ["# Title\n", "\n", "Words."]},
        EMPTY,
    ]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("--- cell 2 of 3: markdown ---", "--- cell 2 of 3: markdown ---"),
        ('print("total", 3)', "# Title"),
        ("total 3", "--- cell 2 of 3: markdown ---"),
        ("Words.", "--- cell 3 of 3: code ---"),
    ],
)
def test_no_cell_goes_with_a_header_that_becomes_other_lines(book, raw, tools, first, last):
    ids = dict(map(reversed, lines(tools)))
    out = change(tools, start_id=ids[first], end_id=ids[last], new_content="other")
    assert out.code == "INVALID_CHANGE"
    assert "Nothing was changed" in out.text
    assert book.read_text() == raw


def test_a_write_of_other_text_is_refused_with_the_way(book, raw, tools):
    lines(tools)
    out = tools["write"].call({"file_path": "a.ipynb", "content": "hello\n"})
    assert out.code == "INVALID_CHANGE"
    assert "--- cell: code ---" in out.text
    assert book.read_text() == raw
    smaller = json.dumps({**BOOK, "cells": [TEXT]})
    assert tools["write"].call({"file_path": "a.ipynb", "content": smaller}).ok
    assert book.read_text() == smaller


@pytest.mark.parametrize(
    ("pattern", "number"), [("Words", 9), ("^import", 2), (r'\("total', 3), ("total 3", 5)]
)
@pytest.mark.parametrize("path", [{}, {"path": "a.ipynb"}], ids=["directory", "file"])
def test_a_hit_has_the_line_that_read_shows_and_its_id(book, tools, pattern, number, path):
    wanted = lines(tools)[number - 1]
    grep = toolset("workspace").bind(tools["read"].workspace)["grep"]
    found = grep.call({"pattern": pattern, **path})
    assert found.text.split("\n")[0] == f"a.ipynb:{number}:[LID:{wanted[0]}]:{wanted[1]}"


@pytest.mark.parametrize("text", ["", "not JSON\n", '{"cells": 3}\n', '{"a": [1,\n2]}\n'])
def test_what_is_no_notebook_is_a_text_like_any_other(text, root, tools):
    (root / "a.ipynb").write_text(text)
    assert "--- cell" not in str(lines(tools))
    if text:
        first = lines(tools)[0][0]
        assert change(tools, line_id=first, new_content="other").ok
        assert (root / "a.ipynb").read_text().startswith("other")
