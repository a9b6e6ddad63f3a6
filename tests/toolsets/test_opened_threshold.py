"""A host that opens `fuzzy_threshold`, and nothing else, gets what `compact` finds and fits."""

import pytest

from fsagent_tools import Workspace, toolset

THRESHOLD = 0.85
TEXT = "def total(values):\n    amount = sum(values)\n    return amount\n"
CASES = {
    "a slip of the pen": ("    amuont = sum(values)\n", "    amuont = max(values)\n"),
    "blanks at the end": ("    return amount  \n", "    return amount + 1  \n"),
    "another depth": ("amount = sum(values)\nreturn amount\n", "return sum(values)\n"),
    "several letters": ("    amount = sun(value)\n    return amount\n", "    return 1\n"),
    "a line that stays": ("    return amount\n", "    amount = sum(values)\n    return amount\n"),
    "a first line at the margin": (
        "amount = sum(values)\n    return amount\n",
        "amount = max(values)\n    return amount\n",
    ),
}
EXACT = {
    "edit": ("filesystem", "path", "old_string", "new_string"),
    "edit_file": ("file_ops", "file_path", "old_string", "new_string"),
    "search_replace": ("file_ops", "file_path", "search_string", "replace_string"),
}


def edited(root, tools, name, path, old, new, case):
    (root / "a.py").write_text(TEXT)
    sent = dict(zip((path, old, new), ("a.py", *CASES[case]), strict=True))
    return tools[name].call(sent).ok, (root / "a.py").read_text()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", EXACT)
def test_it_is_enough(root, name, case):
    of, *names = EXACT[name]
    opened = toolset(of).with_defaults({name: {"fuzzy_threshold": THRESHOLD}})
    compact = toolset("compact").bind(Workspace(root))
    known = edited(root, compact, "Edit", "file_path", "old_string", "new_string", case)
    assert edited(root, opened.bind(Workspace(root)), name, *names, case) == known
