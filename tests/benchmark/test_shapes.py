"""Arguments of another form mean the same, and our tools take those that are plain."""

import pytest

from benchmark.packs import OURS
from benchmark.playing import play
from benchmark.running import OwnTools
from benchmark.shapes import SHAPES
from tests.benchmark.test_robustness import HUNKS

CALL = {"file_path": "a.py", "changes": [{"line_id": "x", "new_content": "a\nb"}]}


def test_each_shape_changes_the_form_alone():
    made = {name: shape(CALL) for name, shape in SHAPES.items()}
    assert all(sent != CALL for sent in made.values())
    assert made["a list as JSON text"]["changes"].startswith('[{"line_id"')
    assert made["a list's only element bare"] == {
        "file_path": "a.py", "line_id": "x", "new_content": "a\nb",
    }  # fmt: skip
    assert made["keys in camel case"]["changes"][0] == {"lineId": "x", "newContent": "a\nb"}
    assert made["the new text as a list"]["changes"][0]["new_content"] == ["a", "b"]
    assert made["a path with ./"]["file_path"] == "./a.py"
    assert CALL["changes"] == [{"line_id": "x", "new_content": "a\nb"}]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_of_another_form_is_done_or_refused_and_never_done_wrongly(shape, tmp_path):
    pack = OURS[1]
    dialect = pack.make()
    with OwnTools(pack, tmp_path) as tools:
        played = [play(tools, dialect, tmp_path, hunk, shape) for hunk in HUNKS[:12]]
    assert {record["outcome"] for record in played} <= {"applied", "refused", "absent"}
