"""Ranges over lines that the session itself has edited: it knows them, so they are taken."""

import random
import re

import pytest

from fsagent_tools import Workspace, toolset

TEXT = "".join(f"value_{n} = {n}\n" for n in range(5))
MARK = {
    "tag": re.compile(r"\[LID:(\w+)\] (.*)"),
    "words": re.compile(r"([a-z]{3}(?:\.[a-z]{3})*)\t(.*)"),
}


@pytest.mark.parametrize(
    "change",
    [
        {"line_id": 2, "new_content": "new"},
        {"line_id": 2, "new_content": ""},
        {"after_line_id": 1, "new_content": "new"},
        {"before_line_id": 2, "new_content": "new\nlines"},
        {"line_id": 2, "new_content": "\n".join(f"new_{n}" for n in range(90))},
    ],
)
def test_a_range_reaches_over_an_own_edit(root, session, change):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    key = next(iter(change))
    assert session.edit({**change, key: ids[change[key]]}).ok
    wide = {"start_line_id": ids[1], "end_line_id": ids[3], "new_content": "x"}
    out = session.edit(wide)
    assert out.ok, out.text
    assert (root / "a.txt").read_text() == "value_0 = 0\nx\nvalue_4 = 4\n"


def test_a_line_that_came_from_outside_is_still_not_replaced_unseen(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    (root / "a.txt").write_text(TEXT.replace("value_3", "outside\nvalue_3"))
    assert session.edit({"line_id": ids[2], "new_content": "new"}, advance=True).ok
    out = session.edit({"start_line_id": ids[1], "end_line_id": ids[4], "new_content": "x"})
    assert out.code == "STALE_LINE_IDS"


def test_a_line_from_outside_of_which_an_answer_named_two_words_is_not_replaced(root, sessions):
    session = sessions(line_ids="words")
    (root / "a.txt").write_text(TEXT)
    ids = [MARK["words"].fullmatch(row)[1] for row in session.read().text.split("\n")]
    (root / "a.txt").write_text(TEXT.replace("value_3", "# of somebody else\nvalue_3"))
    change = {
        "start_line_id": f"{ids[1]} value_1 =",
        "end_line_id": f"{ids[2]} value_2 =",
        "new_content": "new_1 = 1\nnew_2 = 2",
    }
    out = session.edit(change)
    assert out.text.endswith("# of")
    first = MARK["words"].fullmatch(out.text.split("\n")[1].removeprefix("+"))[1]
    wide = {
        "start_line_id": f"{first} new_1 =",
        "end_line_id": f"{ids[3]} value_3 =",
        "new_content": "x",
    }
    assert session.edit(wide).code == "STALE_LINE_IDS"
    assert "# of somebody else" in (root / "a.txt").read_text()


def test_lines_between_which_others_were_removed_unseen_are_not_joined(root, sessions):
    """Even where the line beside the hole is rewritten, in a style that shows nothing around it."""
    session = sessions(line_ids="words")
    (root / "a.txt").write_text(TEXT)
    ids = dict(
        reversed(MARK["words"].fullmatch(row).groups()) for row in session.read().text.split("\n")
    )
    (root / "a.txt").write_text(TEXT.replace("value_2 = 2\n", ""))
    put = {"line_id": f"{ids['value_3 = 3']} value_3 =", "new_content": "new = 3"}
    assert session.edit(put).ok
    wide = {
        "start_line_id": f"{ids['value_1 = 1']} value_1 =",
        "end_line_id": f"{ids['value_4 = 4']} value_4 =",
    }
    out = session.edit({**wide, "new_content": "x"})
    assert out.code == "STALE_LINE_IDS"
    assert "lines 2 and 3" in out.text.lower()


@pytest.mark.full
@pytest.mark.parametrize("style", MARK)
def test_random_ranges_over_own_edits_are_all_taken(root, style):
    dice, taken = random.Random(style), 0

    def fresh():
        return f"{dice.getrandbits(40):010x} {dice.getrandbits(60):015x}"

    tools = toolset("workspace").bind(Workspace(root, line_ids=style))
    for number in range(30):
        path, texts = f"{number}.txt", [f"line {n} of it" for n in range(24)]
        (root / path).write_text("\n".join(texts) + "\n")
        rows = tools["read"].call({"file_path": path}).text.split("\n")
        ids = [MARK[style].fullmatch(row)[1] for row in rows]
        for step in range(18):
            first = dice.randrange(len(ids))
            last = min(len(ids) - 1, first + dice.randrange(5))
            new = [fresh() for _ in range(dice.randrange(4))]
            if len(ids) - (last - first) < 4:
                new = [fresh() for _ in range(9)]
            words = [f"{ids[at]} {' '.join(texts[at].split()[:2])}" for at in (first, last)]
            place = {"start_line_id": words[0], "end_line_id": words[1]}
            if dice.random() < 0.3 and new:
                place, last = {"before_line_id": words[0]}, first - 1
            change = {**place, "new_content": "\n".join(new)}
            out = tools["edit_lines"].call({"file_path": path, "changes": [change]})
            assert out.ok, (number, step, change, out.text)
            taken += 1
            texts[first : last + 1] = new
            shown = {
                found[2]: found[1]
                for row in out.text.split("\n")
                if row[:1] in "+ " and (found := MARK[style].fullmatch(row[1:]))
            }
            ids[first : last + 1] = [shown[text] for text in new]
        assert (root / path).read_text() == "\n".join(texts) + "\n"
    assert taken == 540
