"""What a model is told names only the tools and parameters that it has."""

import re

import pytest

from fsagent_tools import TOOLSETS, Workspace, toolset
from fsagent_tools.actions import ALL

pytestmark = pytest.mark.full

FIELDS = {name for action in ALL for name in action.params.model_fields}
TOOLS = {e.shown_name for name in TOOLSETS for e in toolset(name).entries} | {a.name for a in ALL}
NOT_NAMES = {"line_id"}  # words of the answers themselves
WORD = re.compile(r"`(\w+)`|\b(?:with|use|Use|Prefer|to|in) ([a-z]+_[a-z_]+)\b|\b([a-z_]+)=(?=\w)")
COUNTED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
TEXTS = ("", "x", "same\n", "same", "nowhere", "# ... existing code ...", "\ud800", "\0", "(", "..")
NUMBERS = (0, 1, 2, 99, -1, 10**20)
VALUES = (
    *("a.txt", "d", "none", "none/b", "d/none", "/etc/passwd", "bin", "lone.txt", "a.png", "../x"),
    *("http://127.0.0.1/", "file:///etc/passwd", "ftp://x", "http://a b/", "http://0177.0.0.1/"),
    *(True, None, [], {}, [{"line_id": "abcdef", "new_content": "x"}], [{"new_content": "x"}]),
    *([{"line_id": "zz", "new_content": "x"}], [{"after_line_id": "abcdef", "new_content": ""}]),
)


@pytest.fixture
def folder(root):
    (root / "a.txt").write_text("same\nsame\nother\n" * 400)
    (root / "d").mkdir()
    (root / "d" / "e.py").write_text("x = 1\n")
    (root / "bin").write_bytes(b"\0\1\2")
    (root / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    (root / "lone.txt").write_bytes(b"\xff\xfe\xfd")
    return root


def calls(tool):
    """Calls of the tool, or of each of its commands."""
    if not tool.entry.commands:
        yield from calls_of(tool.entry)
    for word, row in tool.entry.commands.items():
        yield from ({"command": word, **given} for given in calls_of(row))


def calls_of(entry):
    """A working call of a row, and calls that differ from it in one parameter or two."""
    good = {"path": "a.txt", "content": "x", "pattern": "same", "command": "true", "line": 1}
    good |= {"old_string": "same", "new_string": "new", "url": "http://127.0.0.1/", "query": ""}
    good |= {"source": "a.txt", "destination": "d", "changes": [], "timeout": 1, "num_results": 0}
    good |= {"name": "same", "new_name": "new"}
    own = entry.rename
    usual = {n: good[own.get(n, n)] for n in entry.visible if own.get(n, n) in good}
    yield usual
    yield {**usual, "unknown": 1}
    for name in entry.visible:
        yield {n: v for n, v in usual.items() if n != name}
        for value in (*TEXTS, *NUMBERS, *VALUES):
            yield {**usual, name: value}
    for path in ("d", "none", "bin", "d/none/x"):
        yield {**usual, **dict.fromkeys(["path", "file_path"] & entry.visible.keys(), path)}
        for text in TEXTS:
            texts = [n for n in entry.visible if own.get(n, n) in ("old_string", "new_string")]
            yield {**usual, **dict.fromkeys(texts, text)}


def foreign(text, tool, tools):
    """Names of tools and parameters in the words of `text` that `tools` does not have."""
    text = re.sub(r"'[^'\n]*'", "''", text.partition("\n")[0])
    said = {a or b or c for a, b, c in WORD.findall(text)} | {*COUNTED.findall(text)}
    words = [name for other in tools.values() for name in (*other.visible, *other.entry.commands)]
    has = {*tools, *words}
    return (said & (FIELDS | TOOLS)) - has - NOT_NAMES


@pytest.mark.parametrize("name", TOOLSETS)
@pytest.mark.filterwarnings("ignore")
def test_no_message_names_what_the_model_does_not_have(name, folder):
    tools = toolset(name).bind(Workspace(folder))
    texts = set()
    for tool in tools.values():
        assert not foreign(tool.description, tool, tools), tool.description
        for arguments in calls(tool):
            out = tool.call(arguments)
            texts.add(out.code)
            said = out.text if not out.ok else out.data.get("note", "")
            assert not foreign(said, tool, tools), (tool.name, arguments, said)
            (folder / "a.txt").write_text("same\nsame\nother\n" * 400)
    assert len(texts) > 6


def test_hints_follow_a_toolset_that_was_cut_and_renamed(folder):
    few = toolset("workspace").only("read", "write", "ls").renamed({"ls": "list_files"})
    tools = few.bind(Workspace(folder))
    assert "`list_files`" in tools["read"].call({"file_path": "d"}).text
    assert "edit_lines" not in tools["write"].description
    assert "edit_lines" not in tools["read"].description
    alone = few.only("read").bind(Workspace(folder))
    assert "list" not in alone["read"].call({"file_path": "d"}).text.lower()


def test_quoted_lines_of_a_file_are_not_respelled(folder):
    (folder / "q.md").write_text("one `path` and `old_string` here\n")
    tools = toolset("file_ops").bind(Workspace(folder))
    given = {"file_path": "q.md", "search_string": "one `path` and `old_strong` here"}
    out = tools["search_replace"].call({**given, "replace_string": "x"})
    assert "1 one `path` and `old_string` here" in out.text
    assert "`search_string` is not in the file" in out.text


WITHOUT_IDS = [
    n for n in TOOLSETS if "edit_lines" not in {e.action_name for e in toolset(n).entries}
]


@pytest.mark.parametrize("name", WITHOUT_IDS)
def test_no_answer_has_ids_where_no_tool_takes_them(name, tmp_path):
    """Not even those that another toolset gave the lines before."""
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    workspace = Workspace(tmp_path)
    assert "LID" in toolset("workspace").bind(workspace)["read"].call({"file_path": "a.py"}).text
    for tool in toolset(name).bind(workspace).values():
        sent = {"pattern": "x = 1", "file_path": "a.py", "path": "a.py", "content": "x = 1\nz\n"}
        sent |= {"old_string": "x = 1", "new_string": "x = 3", "output_mode": "content"}
        taken = {name: value for name, value in sent.items() if name in tool.visible}
        out = tool.call(taken)
        assert "LID:" not in out.text + str(out.to_dict()), tool.name
        assert "line_id" not in str(out.to_dict()), tool.name
