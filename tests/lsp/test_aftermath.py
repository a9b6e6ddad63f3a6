"""Errors that a change made, told without being asked: with its answer, or a later one."""

import pytest

from fsagent_tools import Policy, Workspace, toolset
from tests.conftest import eventually

from .conftest import BIN, write

A = "def f(x: int) -> int:\n    return x\n"
FILES = {"a.py": A, "b.py": "from a import f\n\nprint(f(1))\nprint(old)\n"}
BROKEN = "def f(x: int, y: int) -> int:\n    return x + nope\n"


@pytest.fixture
def followed(tmp_path):
    """A function: name of a toolset -> its tools, where `b.py` was asked about."""
    made = []
    if not (BIN / "ty").exists():
        pytest.skip("ty is not installed")
    write(tmp_path, FILES)

    def make(name="workspace", **options):
        made.append(
            Workspace(tmp_path, **{"lint": "follow", "servers": {"python": ("ty",)}, **options})
        )
        known = toolset("workspace").bind(made[-1])["lsp"].call({"file_path": "b.py"}, timeout=60)
        assert "old" in known.text
        return toolset(name).bind(made[-1])

    yield make
    for each in made:
        each.close()


def told(tools, text, *wanted):
    """What is told of new errors in `text`, the answer of an edit, and later ones: all `wanted`."""
    answers = [text]

    def news():
        return "; ".join(answer.partition("New errors: ")[2] for answer in answers)

    def there():
        answers.append(tools["read"].call({"file_path": "b.py"}).text)
        return all(each in news() for each in wanted)

    assert eventually(there), news()
    return news()


CHANGES = {
    "write": ("workspace", {"file_path": "a.py", "content": BROKEN}),
    "edit": ("deepagents", {"file_path": "a.py", "old_string": A, "new_string": BROKEN}),
    "apply_patch": (
        "openai",
        "*** Begin Patch\n*** Update File: a.py\n"
        + "".join(f"-{line}" for line in A.splitlines(keepends=True))
        + "".join(f"+{line}" for line in BROKEN.splitlines(keepends=True))
        + "*** End Patch\n",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_new_errors_of_a_change_and_of_files_that_use_it_are_told_once(change, followed, tmp_path):
    name, arguments = CHANGES[change]
    tools = followed(name)
    tool = next(t for t in tools.values() if t.entry.action.name == change)
    answer = tool.call({"input": arguments} if change == "apply_patch" else arguments)
    assert answer.ok, answer.text
    assert (tmp_path / "a.py").read_text() == BROKEN
    reading = toolset("workspace").bind(tool.workspace)
    news = told(reading, answer.text, "a.py:2:16: error: Name `nope`", "b.py:3:7: error: ")
    assert "b.py:4" not in news  # was there before
    assert "New errors" not in reading["read"].call({"file_path": "b.py"}).text


def test_what_is_mended_before_it_was_told_is_not(followed):
    tools = followed()
    with tools["write"].workspace.transaction():
        for content in (BROKEN, A, A.replace("x: int", "x: missing")):
            tools["write"].workspace.write("a.py", content.encode())
    news = tools["write"].workspace.services.after.news(60)
    assert "missing" in news
    assert "nope" not in news
    assert "b.py" not in news


def test_a_file_in_another_open_directory_is_told_by_its_path(followed, tmp_path_factory):
    other = tmp_path_factory.mktemp("other").resolve()
    (other / "c.py").write_text("")
    tools = followed(policy=Policy(allowed_paths=["**", f"{other}/**"]))
    out = tools["write"].call({"file_path": f"{other}/c.py", "content": "print(nope)\n"})
    assert out.ok, out.text
    told(tools, out.text, f"{other}/c.py:1:7: error: Name `nope`")


def test_a_refusal_is_the_same_and_nothing_is_told(followed, tmp_path):
    tools = followed()
    refused = tools["edit_lines"].call({"file_path": "a.py", "changes": []})
    assert not refused.ok
    assert "New errors" not in refused.text
    assert (tmp_path / "a.py").read_text() == A


def test_without_it_nobody_is_asked(followed):
    tools = followed(lint="off")
    answer = tools["write"].call({"file_path": "a.py", "content": BROKEN})
    later = tools["read"].call({"file_path": "b.py"})
    assert tools["write"].workspace.services.after is None
    assert "New errors" not in answer.text + later.text
