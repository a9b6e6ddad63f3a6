"""Nothing happens before the answer to the question about it, and nothing but what was shown."""

import asyncio

import pytest

from fsagent_tools import Effect, Policy


class Asked(list):
    """Keeps what it is asked, and gives one answer; `meanwhile` happens during the question."""

    def __init__(self, answer=True, meanwhile=lambda: None):
        super().__init__()
        self.answer, self.meanwhile = answer, meanwhile

    def __call__(self, request):
        self.append(request)
        self.meanwhile()
        return self.answer


PATCH = "*** Begin Patch\n*** Add File: b.txt\n+x\n*** Delete File: a.txt\n*** End Patch"
ASKED = {
    "write": ("filesystem", "write", {"path": "a.txt", "content": "x\n"}),
    "edit": ("filesystem", "edit", {"path": "a.txt", "old_string": "one", "new_string": "x"}),
    "rm": ("filesystem", "rm", {"path": "a.txt"}),
    "mv": ("filesystem", "mv", {"source": "a.txt", "destination": "b.txt"}),
    "mkdir": ("filesystem", "mkdir", {"path": "new"}),
    "patch": ("openai", "apply_patch", {"input": PATCH}),
    "command": ("workspace", "bash", {"command": "echo x > a.txt"}),
    "delete": ("deepagents", "delete", {"file_path": "/a.txt"}),
}


@pytest.fixture(autouse=True)
def file(root):
    (root / "a.txt").write_text("one\ntwo\n")
    return root / "a.txt"


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("way", ["call", "acall"])
def test_what_is_not_approved_leaves_everything_as_it_was(start, root, file, what, way):
    name, tool, arguments = ASKED[what]
    approve = Asked(answer=False)
    tool = start(name, approve=approve)[tool]
    out = tool.call(arguments) if way == "call" else asyncio.run(tool.acall(arguments))
    assert out.code == "APPROVAL_DENIED"
    assert len(approve) == 1
    assert file.read_text() == "one\ntwo\n"
    assert [path.name for path in root.iterdir() if path.name != ".ai"] == ["a.txt"]


def test_a_reason_reaches_the_model(start):
    out = start("filesystem", approve=Asked("not on a Friday"))["rm"].call({"path": "a.txt"})
    assert "not on a Friday" in out.text


def test_what_is_shown_is_what_happens(start, file):
    approve = Asked()
    tool = start("filesystem", approve=approve)["edit"]
    assert tool.call({"path": "a.txt", "old_string": "one", "new_string": "ONE"}).ok
    assert "-one\n+ONE" in approve[0].diff
    assert approve[0].paths == ("a.txt",)
    assert approve[0].effect is Effect.WRITE
    assert file.read_text() == "ONE\ntwo\n"


def test_a_file_that_changes_during_the_question_is_asked_about_again(start, file):
    later = iter([lambda: file.write_text("one\nTWO, by another\n")])
    approve = Asked(meanwhile=lambda: next(later, lambda: None)())
    tool = start("filesystem", approve=approve)["edit"]
    out = tool.call({"path": "a.txt", "old_string": "one", "new_string": "ONE"})
    assert "TWO, by another" in file.read_text()
    assert len(approve) == 2 or not out.ok
    assert file.read_text() in ("ONE\nTWO, by another\n", "one\nTWO, by another\n")


def test_reading_is_not_asked_about(start):
    approve = Asked(answer=False)
    assert start(approve=approve)["read"].call({"file_path": "a.txt"}).ok
    assert not approve


def test_nobody_is_asked_about_what_is_not_allowed(start, outside):
    approve = Asked()
    denying = start("filesystem", approve=approve, policy=Policy(denied_paths=["a.txt"]))
    closed = start("filesystem", approve=approve, policy=Policy(readonly=True))
    for tools, path in ((denying, "a.txt"), (closed, "b.txt"), (denying, "../outside/x")):
        assert not tools["write"].call({"path": path, "content": "x"}).ok
    assert not tools["write"].call({"path": 7}).ok
    assert not approve
