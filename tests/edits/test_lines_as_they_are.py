"""Changes that put lines as they are, leave an end out, or are about a part of a line."""

import re

import pytest

from fsagent_tools import Workspace, toolset

F = "def f(x):\n    return x  \n\n\n"
G = "def g(x):\n\treturn 2 * x + 2\n\n\n"
H = "def h():\n    pass\n"
CODE = F + G + H


class Lines:
    """A session with the toolset `lines`, which names lines by their text."""

    def __init__(self, root):
        self.root, self.tools = root, toolset("lines").bind(Workspace(root))

    def names(self, path="a.py"):
        """Each text shown, with the ID and words that name it."""
        out = self.tools["read"].call({"file_path": path})
        rows = [row.partition("\t") for row in out.text.split("\n") if "\t" in row]
        return {text: f"{mark} {' '.join(text.split()[:2])}" for mark, _, text in rows}

    def edit(self, *changes, path="a.py", ok=True):
        out = self.tools["edit_lines"].call({"file_path": path, "changes": [*changes]})
        assert out.ok is ok, out.text
        return out

    def text(self, path="a.py"):
        return (self.root / path).read_bytes().decode()


@pytest.fixture
def lines(root):
    (root / "a.py").write_text(CODE)
    return Lines(root)


def test_moved_lines_keep_their_ids_and_every_byte(lines):
    before = lines.names()
    change = {"line_id": before["def f(x):"], "end_before": before["def g(x):"]}
    lines.edit({**change, "before_line_id": before["def h():"]})
    assert lines.text() == G + F + H
    assert lines.names() == before
    back = {"line_id": before["def f(x):"], "end_line_id": before["    return x  "]}
    lines.edit({**back, "before_line_id": before["def g(x):"], "new_content": ""})
    assert lines.text() == F[:-2] + G + "\n\n" + H
    assert lines.names() == before


def test_moved_lines_are_seen_beside_what_is_there_now(lines):
    names = lines.names()
    change = {"line_id": names["def f(x):"], "end_before": names["def g(x):"]}
    lines.edit({**change, "after_line_id": names["    pass"]})
    over = {"line_id": names["    pass"], "end_line_id": names["    return x  "]}
    lines.edit({**over, "new_content": "    raise ValueError"})
    over = {"line_id": names["def g(x):"], "end_line_id": names["def h():"]}
    lines.edit({**over, "new_content": "def k():"})
    assert lines.text() == "def k():\n    raise ValueError\n\n\n"


def test_moved_lines_are_part_of_what_else_the_call_changes(lines):
    names = lines.names()
    lines.edit(
        {"line_id": names["def h():"], "new_content": "def i():"},
        {"line_id": names["def g(x):"], "end_before": names["def h():"],
         "before_line_id": names["def f(x):"]},
        {"after_line_id": names["    return x  "], "new_content": "# end of f"},
    )  # fmt: skip
    assert lines.text() == G + F.replace("x  \n", "x  \n# end of f\n") + H.replace("h", "i")
    left = {text: name for text, name in names.items() if text != "def h():"}
    assert left.items() <= lines.names().items()


def test_copies_have_ids_of_their_own(lines):
    names = lines.names()
    change = {"line_id": names["def g(x):"], "end_before": names["def h():"], "from_file": "a.py"}
    lines.edit({**change, "before_line_id": names["def f(x):"]})
    assert lines.text() == G + F + G + H
    shown = lines.tools["read"].call({"file_path": "a.py"}).text
    ids = re.findall(r"^(\S+)\t", shown, re.M)
    assert len({*ids}) == len(ids)
    assert shown.count(f"{names['def g(x):'].split()[0]}\tdef g") == 1


def test_lines_of_another_file_come_to_the_byte_and_it_stays(lines, root):
    (root / "b.py").write_bytes(b"one = 1\r\ntwo = 2")
    there, here = lines.names(), lines.names("b.py")
    change = {"line_id": there["def f(x):"], "end_before": there["def g(x):"], "from_file": "a.py"}
    out = lines.edit({**change, "after_line_id": here["one = 1"]}, path="b.py")
    assert lines.text("b.py") == "one = 1\r\n" + F.replace("\n", "\r\n") + "two = 2"
    assert lines.text() == CODE
    for text in ("def f(x):", "    return x  "):
        assert lines.names("b.py")[text].split()[0] in out.text
    assert lines.names() == there


@pytest.mark.parametrize("newline", ["\n", "\r"])
def test_a_carriage_return_within_a_line_is_what_it_is_in_the_other_file(lines, root, newline):
    (root / "b.txt").write_bytes(b"three four\rfive\nsix")
    (root / "c.txt").write_bytes(f"one two{newline}last one{newline}".encode())
    (name,) = [name for text, name in lines.names("b.txt").items() if "three" in text]
    change = {"line_id": name, "from_file": "b.txt"}
    lines.edit({**change, "after_line_id": lines.names("c.txt")["one two"]}, path="c.txt")
    ended = f"one two{newline}three four\rfive{newline}last one{newline}"
    assert (root / "c.txt").read_bytes() == ended.encode()
    total = lines.tools["read"].call({"file_path": "c.txt"}).data["total_lines"]
    assert total == (3 if newline == "\n" else 4)


def test_up_to_a_line_without_it(lines):
    names = lines.names()
    lines.edit({"line_id": names["def g(x):"], "end_before": names["def h():"], "new_content": ""})
    assert lines.text() == F + H
    change = {"start_line_id": names["def f(x):"], "end_before": names["def h():"]}
    lines.edit({**change, "new_content": "X = 1"})
    assert lines.text() == "X = 1\n" + H


def test_a_part_of_a_line(lines):
    names = lines.names()
    name = names["\treturn 2 * x + 2"]
    lines.edit({"line_id": name, "old": "+ 2", "new_content": "- 1\n"})
    lines.edit({"line_id": name.split()[0] + " return 2", "old": "2 * ", "new": ""}, ok=False)
    now = lines.names()["\treturn 2 * x - 1"]
    lines.edit({"line_id": now, "old": "2 * ", "new": ""})
    now = lines.names()["\treturn x - 1"]
    lines.edit({"line_id": now, "old": "\treturn x - 1", "new_content": ""})
    assert lines.text() == F + "def g(x):\n\n\n\n" + H


def test_the_part_of_a_line_that_ends_with_a_new_one_ends_it(lines, root):
    (root / "a.py").write_text("f(a, b)\n")
    lines.edit({"line_id": lines.names()["f(a, b)"], "old": ", ", "new_content": ",\n  "})
    lines.edit({"line_id": lines.names()["f(a,"], "old": "(", "new_content": "(\n"})
    assert lines.text() == "f(\na,\n  b)\n"


@pytest.mark.parametrize(("changes", "expected"), [
    ([{"line_id": "c", "before_line_id": "a"}, {"after_line_id": "c", "new_content": "d4 new"}],
     "c3 x|a1 x|b2 x|d4 new"),
    ([{"line_id": "c", "new_content": ""}, {"after_line_id": "c", "new_content": "d4 new"}],
     "a1 x|b2 x|d4 new"),
    ([{"line_id": "b", "after_line_id": "c"}, {"line_id": "c", "before_line_id": "a"}],
     "c3 x|a1 x|b2 x"),
    ([{"line_id": "a", "after_line_id": "c"}], "b2 x|c3 x|a1 x"),
])  # fmt: skip
def test_behind_a_last_line_that_goes_nothing_is_left_of_it(changes, expected, lines, root):
    (root / "a.py").write_text("a1 x\nb2 x\nc3 x")
    names = {text[0]: name for text, name in lines.names().items()}
    lines.edit(*({key: names.get(value, value) for key, value in one.items()} for one in changes))
    assert lines.text() == expected.replace("|", "\n")


def test_lines_that_nobody_typed_are_no_slip(lines, root):
    long, tag = "xx = 1 + " + "x" * 5000, "[LID:abcdef] text"
    (root / "a.py").write_text(f"a1 x\n{long}\n{tag}\nb2 x\n")
    names = {text[:3]: name for text, name in lines.names().items()}
    lines.edit({"line_id": names["a1 "], "after_line_id": names["a1 "], "from_file": "a.py"})
    lines.edit(
        {"line_id": names["xx "], "end_line_id": names["[LI"],
         "after_line_id": names["b2 "]},
    )  # fmt: skip
    assert lines.text() == f"a1 x\na1 x\nb2 x\n{long}\n{tag}\n"


def test_a_part_of_a_line_that_is_too_long_to_be_shown(lines, root):
    (root / "a.py").write_text("x = '" + "y" * 5000 + "z'\nend = 1\n")
    (name, _) = lines.names().values()
    lines.edit({"line_id": name, "new_content": "x = 1"}, ok=False)
    lines.edit({"line_id": name, "old": "yz", "new_content": "-"})
    assert lines.text() == "x = '" + "y" * 4999 + "-'\nend = 1\n"


REFUSED = {
    "a part that is there twice": ({"line_id": "g2", "old": "2", "new_content": "3"}, "than once"),
    "a part that overlaps itself": ({"line_id": "gg", "old": "gg", "new_content": ""}, "than once"),
    "a part that is not there": ({"line_id": "g2", "old": "4", "new_content": "3"}, "is not in"),
    "the same part": ({"line_id": "g2", "old": "* x", "new_content": "* x"}, "changes nothing"),
    "a part of a range": (
        {"line_id": "g", "end_line_id": "g2", "old": "2 *", "new_content": "3"}, "give line_id"
    ),
    "a move into itself": (
        {"line_id": "f", "end_line_id": "h", "after_line_id": "g"}, "to where they are"
    ),
    "a move to where it is": ({"line_id": "f", "after_line_id": "f"}, "to where they are"),
    "a move with text": (
        {"line_id": "f", "after_line_id": "h", "new_content": "x"}, "give line_id"
    ),
    "two places": ({"line_id": "f", "after_line_id": "h", "before_line_id": "g"}, "give line_id"),
    "nothing to put": ({"after_line_id": "h"}, "no new_content"),
    "text from a file": (
        {"after_line_id": "h", "new_content": "x", "from_file": "b.py"}, "give line_id"
    ),
    "both ends": (
        {"line_id": "f", "end_line_id": "g", "end_before": "h", "new_content": "x"}, "give line_id"
    ),
    "up to its own start": ({"line_id": "f", "end_before": "f", "new_content": ""}, "no lines"),
    "upside down": ({"line_id": "g", "end_before": "f", "after_line_id": "h"}, "reversed"),
    "wrong words of what is moved": (
        {"line_id": "wrong", "after_line_id": "h"}, "does not stand before"
    ),
    "no words": ({"line_id": "bare", "after_line_id": "h"}, "needs the first two words"),
    "lines of a file that was not read": (
        {"line_id": "f", "after_line_id": "h", "from_file": "b.py"}, "b.py has no line IDs"
    ),
    "lines of a file that is not there": (
        {"line_id": "f", "after_line_id": "h", "from_file": "c.py"}, "c.py does not exist"
    ),
    "lines of a file outside": (
        {"line_id": "f", "after_line_id": "h", "from_file": "../c.py"}, "outside"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_every_byte(lines, root, case):
    (root / "a.py").write_text(CODE + "ggg = 1\n")
    (root / "b.py").write_text(CODE)
    (root / "d.py").write_text(H.replace("h()", "ggg = 1"))
    (root / "d.py").write_text("ggg = 1\n")
    names, other = lines.names(), lines.names("d.py")
    short = {"f": "def f(x):", "g": "def g(x):", "g2": "\treturn 2 * x + 2", "h": "def h():"}
    known = {key: names[text] for key, text in short.items()}
    known |= {"gg": names["ggg = 1"], "p": names["    pass"], "bare": known["f"].split()[0]}
    known["wrong"] = f"{known['bare']} def g(x):"
    change, why = REFUSED[case]
    if change.get("from_file") == "d.py":
        known["h"] = other["ggg = 1"]
    ids = {n: known[v] if n.endswith("id") or n == "end_before" else v for n, v in change.items()}
    out = lines.edit(ids, ok=False)
    assert why in out.text
    assert lines.text() == CODE + "ggg = 1\n"
    assert lines.text("b.py") == CODE


def test_a_move_is_one_change_to_the_history_and_to_who_approves(root):
    (root / "a.py").write_text(CODE)
    asked = []
    workspace = Workspace(root, approve=lambda request: not asked.append(request))
    lines = Lines(root)
    lines.tools = toolset("lines").bind(workspace)
    names = lines.names()
    change = {"line_id": names["def f(x):"], "end_before": names["def g(x):"]}
    lines.edit({**change, "after_line_id": names["    pass"]})
    assert lines.text() == G + H + F
    (request,) = asked
    assert request.diff.count("\n-def f(x):") == request.diff.count("\n+def f(x):") == 1
    workspace.undo()
    assert lines.text() == CODE
    assert lines.names() == names


def test_blank_lines_that_were_not_seen_are_no_reason_to_refuse_a_range(root):
    (root / "a.py").write_text("def f():\n    pass\n\n\ndef g():\n    pass\n")
    tools = toolset("lines").bind(Workspace(root))
    head = tools["read"].call({"file_path": "a.py", "limit": 2}).text.split("\n")
    (hit,) = tools["grep"].call({"pattern": "def g"}).data["matches"]
    change = {"line_id": head[0], "end_before": f"{hit['line_id']} def g():", "new_content": ""}
    done = tools["edit_lines"].call({"file_path": "a.py", "changes": [change]})
    assert done.ok, done.text
    assert (root / "a.py").read_text() == "def g():\n    pass\n"
