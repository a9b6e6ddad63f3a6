"""The project may shrink, and not grow."""

import shutil
import tomllib

from scripts.growth import BUDGET, House, land, levels, too_large

PLAN = {
    "landing": {"lines": 100, "levels": 3},
    "rebuilt": {"rooms": ["edits"]},
    "rooms": {"edits": 40, "web": 10},
}


def test_what_is_above_the_last_landing_is_too_large():
    assert not too_large({"lines": 100, "levels": 3}, {}, PLAN)
    assert too_large({"lines": 101, "levels": 3}, {}, PLAN) == [
        "lines: 101, and 100 at the last landing"
    ]


def test_only_a_rebuilt_room_is_held_to_its_budget():
    figures = {"lines": 90, "levels": 3}
    assert not too_large(figures, {"edits": 40, "web": 50}, PLAN)
    assert too_large(figures, {"edits": 41}, PLAN) == ["edits: 41 lines, and 40 is its budget"]


def test_a_landing_writes_its_figures_and_nothing_else(tmp_path):
    path = shutil.copy(BUDGET, tmp_path / "budget.toml")
    before = tomllib.loads(path.read_text())
    land(dict.fromkeys(before["landing"], 7), path)
    after = tomllib.loads(path.read_text())
    assert after == {**before, "landing": dict.fromkeys(before["landing"], 7)}


def test_every_rebuilt_room_has_a_budget_and_all_rooms_fit_the_goal():
    budget = tomllib.loads(BUDGET.read_text())
    assert {*budget["rebuilt"]["rooms"]} <= {*budget["rooms"]}
    assert sum(budget["rooms"].values()) <= budget["goal"]["lines"]


def test_rooms_levels_and_names_are_counted_as_they_stand(tmp_path):
    files = {
        "fsagent_tools/__init__.py": "",
        "fsagent_tools/low.py": "A = 1\n",
        "fsagent_tools/room/__init__.py": "from ..low import A\n",
        "fsagent_tools/room/high.py": "from typing import TYPE_CHECKING\nfrom . import A\n\n"
        "if TYPE_CHECKING:\n    from fsagent_tools_x import B\n\n\ndef seen():\n    pass\n",
        "adapters/fsagent_tools_x/__init__.py": "from fsagent_tools.room.high import seen\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    house = House(tmp_path)
    assert house.rooms == {"loose": 1, "room": 10, "fsagent_tools_x": 1}
    assert levels(house.imports) == 4
    figures = house.figures()
    assert (figures["lines"], figures["modules"], figures["circles"]) == (12, 5, 0)
    assert figures["longest function"] == 2


def test_a_circle_is_one_more_than_there_was(tmp_path):
    (tmp_path / "fsagent_tools").mkdir()
    for one, other in ("ab", "ba"):
        source = f"import fsagent_tools.{other}\n"
        (tmp_path / f"fsagent_tools/{one}.py").write_text(source)
    assert House(tmp_path).figures()["circles"] == 1
