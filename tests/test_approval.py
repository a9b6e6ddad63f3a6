"""Nothing of the chosen kinds happens before it was approved, and nothing else than that."""

import asyncio
import os
import threading

import pytest

from fsagent_tools import Effect, EventLog, Tool, Workspace, toolset
from fsagent_tools.call import current
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.gate.request import QUESTIONS
from fsagent_tools.types import Entry
from tests.conftest import PATIENCE, eventually, soon


class Asked(list):
    """An `approve` that remembers what it was asked and gives one answer."""

    def __init__(self, answer=True, meanwhile=None):
        super().__init__()
        self.answer, self.meanwhile = answer, meanwhile

    def __call__(self, request):
        self.append(request)
        if self.meanwhile:
            self.meanwhile()
        return self.answer


@pytest.fixture(autouse=True)
def state_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "d/deep").mkdir(parents=True)
    (tmp_path / "d/deep/x.txt").write_text("x")
    return tmp_path


def tools(root, approve, **options):
    return toolset("filesystem").bind(Workspace(root, approve=approve, **options))


def entries(root):
    return {
        str(p.relative_to(root)): p.is_file() and p.read_bytes()
        for p in root.rglob("*")
        if ".ai" not in p.parts
    }


CHANGES = {
    "write": ({"path": "a.txt", "content": "one\n2\nthree\n"}, ["a.txt"], "-two\n+2"),
    "mv": ({"source": "d", "destination": "e"}, ["d", "e"], "rename d -> e\n  deep\n  deep/x.txt"),
    "cp": (
        {"source": "d/deep/x.txt", "destination": "a.txt", "overwrite": True},
        ["d/deep/x.txt", "a.txt"],
        "copy d/deep/x.txt -> a.txt\nreplaces a.txt",
    ),
    "rm": ({"path": "d", "recursive": True}, ["d"], "delete d\n  deep\n  deep/x.txt"),
    "mkdir": ({"path": "n/m"}, ["n/m"], "new directory n/m"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_denied_change_is_told_in_full_and_changes_nothing(name, root):
    sent, paths, diff = CHANGES[name]
    before, asked = entries(root), Asked("not on a Friday.")
    outcome = tools(root, asked)[name].call(sent)
    assert outcome.code == "APPROVAL_DENIED"
    assert "not on a Friday. Nothing was done." in outcome.text
    (request,) = asked
    assert (request.tool, list(request.paths)) == (name, paths)
    assert sent.items() <= request.arguments.items()
    assert diff in request.diff
    assert entries(root) == before


def test_a_name_makes_no_line_of_what_is_asked(root):
    asked, name = Asked(False), "a.txt\n+++ b\u202e"
    made = tools(root, asked)
    made["write"].call({"path": name, "content": "x\n"})
    made["mv"].call({"source": "a.txt", "destination": name})
    (root / "d" / name).touch()
    made["rm"].call({"path": "d", "recursive": True})
    shown = r"a.txt\n+++ b\u202e"
    assert [shown in request.diff for request in asked] == [True] * 3
    assert not any(name in request.diff for request in asked)


@pytest.mark.parametrize("name", CHANGES)
def test_an_approved_change_happens_once(name, root):
    before, asked = entries(root), Asked()
    outcome = tools(root, asked)[name].call(CHANGES[name][0])
    assert outcome.ok, outcome
    assert len(asked) == 1
    assert entries(root) != before


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_while_the_answer_was_awaited_is_asked_about_again(name, root):
    def meanwhile():
        if len(asked) == 1:
            (root / "a.txt").write_text("somebody else\n")
            (root / "d/deep/x.txt").write_text("longer than before")
            (root / "n").mkdir()
            (root / "n/m").write_text("a file")
        asked.answer = len(asked) == 1

    asked = Asked(meanwhile=meanwhile)
    outcome = tools(root, asked)[name].call(CHANGES[name][0])
    assert outcome.code in ("APPROVAL_DENIED", "ALREADY_EXISTS"), outcome
    fingerprints = {request.fingerprint for request in asked}
    assert len(asked) == len(fingerprints) == (1 if name == "mkdir" else 2)
    assert (root / "a.txt").read_text() == "somebody else\n"
    assert (root / "d/deep/x.txt").exists()
    assert not (root / "e").exists()


@pytest.mark.parametrize(
    "line", ["*** Delete File: a.txt", "*** Update File: a.txt\n*** Move to: e"]
)
def test_what_a_patch_takes_away_unseen_is_asked_about_again(line, root):
    def meanwhile():
        (root / "a.txt").write_text("somebody else\n")
        asked.answer = len(asked) == 1

    asked = Asked(meanwhile=meanwhile)
    workspace = Workspace(root, approve=asked)
    patch = f"*** Begin Patch\n{line}\n*** End Patch"
    outcome = toolset("openai").bind(workspace)["apply_patch"].call({"input": patch})
    assert outcome.code == "APPROVAL_DENIED"
    assert (root / "a.txt").read_text() == "somebody else\n"


@pytest.mark.parametrize("source", ["a.txt", "d"])
@pytest.mark.parametrize("name", ["cp", "mv"])
def test_other_bytes_with_the_same_size_and_time_are_asked_about_again(name, source, root):
    def meanwhile():
        for path in (root / "a.txt", root / "d/deep/x.txt"):
            before = path.stat()
            path.write_text(path.read_text().swapcase())
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        asked.answer = len(asked) == 1

    asked = Asked(meanwhile=meanwhile)
    outcome = tools(root, asked)[name].call({"source": source, "destination": "e"})
    assert outcome.code == "APPROVAL_DENIED"
    assert len(asked) == 2
    assert not (root / "e").exists()


def test_a_file_that_is_never_at_rest_is_left_alone(root):
    def meanwhile():
        (root / "a.txt").write_text(f"version {len(asked)}\n")

    asked = Asked(meanwhile=meanwhile)
    outcome = tools(root, asked)["write"].call({"path": "a.txt", "content": "mine\n"})
    assert outcome.code == "FILE_CHANGED"
    assert len(asked) == QUESTIONS
    assert (root / "a.txt").read_text() == f"version {QUESTIONS}\n"


def replacing(old, new):
    return {"path": "a.txt", "old_string": old, "new_string": new}


def test_an_edit_holds_after_approved_edits_of_other_lines(root):
    fingerprints = {}

    def both(request):
        if request.arguments["new_string"] == "3\n":
            fingerprints["shown"] = request.fingerprint
            assert bound["edit"].call(replacing("one\n", "0\n1\n")).ok
            fingerprints["now"] = bound["edit"].preview(replacing("three\n", "3\n")).fingerprint
        return True

    bound = tools(root, both)
    assert bound["edit"].call(replacing("three\n", "3\n")).ok
    assert fingerprints["shown"] == fingerprints["now"]
    assert (root / "a.txt").read_text() == "0\n1\ntwo\n3\n"


def test_an_edit_is_another_one_after_an_edit_that_nobody_approved(root):
    bound = tools(root, Asked())
    shown = bound["edit"].preview(replacing("three\n", "3\n")).fingerprint
    (root / "a.txt").write_text("0\n1\ntwo\nthree\n")
    assert bound["edit"].preview(replacing("three\n", "3\n")).fingerprint != shown


def test_an_edit_is_another_one_after_an_approved_edit_of_its_line(root):
    bound = tools(root, Asked())
    whole = {"path": "a.txt", "content": "all new\n"}
    shown = bound["write"].preview(whole).fingerprint
    assert bound["edit"].call(replacing("three\n", "3\n")).ok
    assert bound["write"].preview(whole).fingerprint != shown


def test_directories_for_a_new_file_are_not_made_before_the_answer(root):
    sent = {"path": "n/m/new.txt", "content": "hello", "create_dirs": True}
    asked = Asked(False, meanwhile=lambda: (root / "n").exists() and pytest.fail("too early"))
    assert tools(root, asked)["write"].call(sent).code == "APPROVAL_DENIED"
    assert asked[0].paths == ("n/m/new.txt",)
    assert asked[0].diff.startswith("--- /dev/null\n+++ b/n/m/new.txt\n")
    assert not (root / "n").exists()
    assert tools(root, Asked())["write"].call(sent).ok
    assert (root / "n/m/new.txt").read_text() == "hello"


def test_an_edit_by_line_id_is_approved_by_its_diff(root):
    workspace = Workspace(root, approve=(asked := Asked()))
    read = toolset("workspace").bind(workspace)["read"].call({"file_path": "a.txt"})
    line_id = read.text.splitlines()[1][5:11]
    changes = [{"line_id": line_id, "new_content": "2"}]
    outcome = Tool(Entry("edit_lines"), workspace).call({"path": "a.txt", "changes": changes})
    assert outcome.ok, outcome
    assert "-two\n+2" in asked[0].diff
    assert (root / "a.txt").read_text() == "one\n2\nthree\n"


@pytest.mark.parametrize("answer", [False, None, "", 1, "yes", {"path": "d/deep/x.txt"}])
def test_only_true_approves(answer, root):
    assert tools(root, Asked(answer))["rm"].call({"path": "a.txt"}).code == "APPROVAL_DENIED"


def test_nobody_is_asked_about_reads_refusals_and_what_changes_nothing(root):
    bound = tools(root, asked := Asked())
    assert bound["read"].call({"path": "a.txt"}).ok
    assert not bound["rm"].call({"path": "none"}).ok
    assert not bound["write"].call({"path": "../x", "content": ""}).ok
    assert bound["mkdir"].call({"path": "d"}).ok
    assert not asked


def test_the_kinds_of_effects_asked_about_can_be_chosen(root):
    bound = tools(root, asked := Asked(False), approve_effects=[Effect.DELETE, Effect.READ])
    assert bound["write"].call({"path": "a.txt", "content": "x\n"}).ok
    assert bound["rm"].call({"path": "a.txt"}).code == "APPROVAL_DENIED"
    assert bound["read"].call({"path": "a.txt"}).code == "APPROVAL_DENIED"
    assert [request.diff for request in asked] == ["delete a.txt", ""]


def test_no_lock_is_held_while_the_answer_is_awaited(root):
    def meanwhile():
        other = toolset("filesystem").bind(Workspace(root))
        assert other["write"].call({"path": "b.txt", "content": "b"}).ok
        assert other["write"].call({"path": "a.txt", "content": "one\ntwo\nthree\n"}).ok

    asked = Asked(False, meanwhile)
    assert (
        tools(root, asked)["write"].call({"path": "a.txt", "content": ""}).code == "APPROVAL_DENIED"
    )
    assert (root / "b.txt").exists()


def test_a_fingerprint_is_of_the_effect(root):
    asked = Asked(False)
    for content in ("x\n", "x\n", "y\n"):
        tools(root, asked)["write"].call({"path": "a.txt", "content": content})
    first, again, other = (request.fingerprint for request in asked)
    assert first == again != other


def test_an_asynchronous_approval_runs_on_the_callers_loop(root):
    where = []

    async def approve(request):
        await asyncio.sleep(0)
        where.append(threading.current_thread())
        return request.tool == "mkdir"

    async def both():
        bound = tools(root, approve)
        return [
            await bound["mkdir"].acall({"path": "new"}),
            await bound["rm"].acall({"path": "a.txt"}),
        ]

    assert [outcome.code for outcome in asyncio.run(both())] == ["OK", "APPROVAL_DENIED"]
    assert where == [threading.main_thread()] * 2
    assert tools(root, approve)["mkdir"].call({"path": "sync"}).ok

    async def wrong():
        return tools(root, approve)["mkdir"].call({"path": "wrong"})

    with pytest.raises(ConfigInvalid, match="acall"):
        asyncio.run(wrong())


def test_cancelling_the_task_ends_the_wait_and_changes_nothing(root):
    seen = threading.Event()

    async def approve(_):
        seen.set()
        await asyncio.sleep(2 * PATIENCE)

    async def give_up():
        task = asyncio.create_task(tools(root, approve)["rm"].acall({"path": "a.txt"}))
        assert await asyncio.to_thread(seen.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with soon():
        asyncio.run(give_up())
    assert (root / "a.txt").exists()


def test_an_exception_of_the_approver_reaches_the_host_and_leaves_no_trace(root):
    class Interrupt(Exception):
        pass

    def approve(_):
        raise Interrupt

    before = entries(root)
    with pytest.raises(Interrupt):
        tools(root, approve)["rm"].call({"path": "a.txt"})
    assert entries(root) == before
    assert current.get().watch is None


async def test_a_yes_after_the_caller_gave_up_starts_nothing(tmp_path):
    asked, answered, records = threading.Event(), threading.Event(), []

    def approve(request):
        asked.set()
        return answered.wait(PATIENCE)

    workspace = Workspace(tmp_path, approve=approve, log=EventLog(records.append))
    bash = toolset("workspace").bind(workspace)["bash"]
    waiting = asyncio.create_task(bash.acall({"command": "touch made"}))
    await asyncio.to_thread(asked.wait, PATIENCE)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    answered.set()
    assert await asyncio.to_thread(eventually, lambda: records)
    assert [record["code"] for record in records] == ["CANCELLED"]
    assert not (tmp_path / "made").exists()
