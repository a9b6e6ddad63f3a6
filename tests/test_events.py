"""What the event log says of calls, and what it keeps to itself."""

import json
from hashlib import sha256

import pytest

from fsagent_tools import EventLog, Policy, Workspace, identified, toolset


def digest(text):
    return sha256(text.encode()).hexdigest()


def calls(root, log):
    tools = toolset("filesystem").bind(Workspace(root, log=log))
    (root / "a.txt").write_text("one\ntwo\n")
    tools["read"].call({"path": "a.txt"})
    tools["write"].call({"path": "a.txt", "content": "one\nSECRET\n3\n"})
    tools["mv"].call({"source": "a.txt", "destination": "b.txt"})
    tools["rm"].call({"path": "../b.txt"})
    tools["rm"].call({"nope": 1})


def test_every_call_is_one_line_without_content(tmp_path):
    root, log = tmp_path / "root", tmp_path / "log.jsonl"
    root.mkdir()
    calls(root, EventLog(log))
    text = log.read_text()
    read, write, mv, rm, wrong = map(json.loads, text.splitlines())
    assert "SECRET" not in text
    assert [e["tool"] for e in (read, write, mv, rm, wrong)] == ["read", "write", "mv", "rm", "rm"]
    assert [e["paths"] for e in (read, write, mv, rm, wrong)] == [
        ["a.txt"], ["a.txt"], ["a.txt", "b.txt"], ["../b.txt"], [],
    ]  # fmt: skip
    codes = ["OK", "OK", "OK", "PATH_OUTSIDE_WORKSPACE", "VALIDATION_ERROR"]
    assert [e["code"] for e in (read, write, mv, rm, wrong)] == codes
    assert write["sha256_before"] == digest("one\ntwo\n")
    assert write["sha256_after"] == digest("one\nSECRET\n3\n")
    assert (write["insertions"], write["deletions"], write["effect"]) == (2, 1, "write")
    assert all(e["duration_ms"] > 0 and e["time"].endswith("+00:00") for e in (read, rm))
    assert log.stat().st_mode & 0o777 == 0o600


def test_content_is_logged_when_asked_for(tmp_path):
    records = []
    calls(tmp_path, EventLog(records.append, content=True))
    assert records[1]["arguments"]["content"] == "one\nSECRET\n3\n"
    assert "+SECRET" in records[1]["text"]
    (told,) = records[1]["diffs"]
    assert told["path"] == "a.txt"
    assert "-two\n+SECRET\n+3" in told["diff"]
    assert records[2]["diffs"] == [{"path": "b.txt", "diff": "rename a.txt -> b.txt"}]
    assert records[4]["arguments"] == {"nope": 1}
    json.dumps(records)


def test_a_record_has_sizes_and_reasons_without_content(tmp_path):
    records = []
    calls(tmp_path, EventLog(records.append))
    assert records[1]["sent_characters"] == len(
        json.dumps({"path": "a.txt", "content": "one\nSECRET\n3\n"})
    )
    assert records[0]["answer_characters"] >= len("one\ntwo")
    assert records[3]["reason"] == "../b.txt is outside the workspace."
    assert "reason" not in records[0]
    assert "reason" not in records[4]
    assert "diffs" not in records[1]


def test_a_command_is_logged_with_how_it_ended_and_what_the_sandbox_refused(tmp_path):
    records = []
    bash = toolset("workspace").bind(Workspace(tmp_path, log=EventLog(records.append)))["bash"]
    assert bash.call({"command": "exit 3"}).ok
    assert (records[0]["exit_code"], records[0]["timed_out"], records[0]["refused"]) == (
        3,
        False,
        (),
    )


def test_an_approved_change_is_told_once(tmp_path):
    records = []
    log = EventLog(records.append, content=True)
    workspace = Workspace(tmp_path, approve=lambda _: True, log=log)
    write = toolset("filesystem").bind(workspace)["write"]
    assert write.call({"path": "a.txt", "content": "b\n"}).ok
    assert len(records[0]["diffs"]) == 1


def test_a_long_diff_is_cut(tmp_path):
    records = []
    workspace = Workspace(tmp_path, log=EventLog(records.append, content=True))
    write = toolset("filesystem").bind(workspace)["write"]
    assert write.call({"path": "a.txt", "content": "0123456789\n" * 20_000}).ok
    assert len(records[0]["diffs"][0]["diff"]) < 100_100
    assert records[0]["diffs"][0]["diff"].endswith("characters in all)")


def test_what_a_host_takes_back_is_marked_in_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    records = []
    (tmp_path / "root").mkdir()
    workspace = Workspace(tmp_path / "root", log=EventLog(records.append))
    start = workspace.checkpoint("before")
    toolset("filesystem").bind(workspace)["write"].call({"path": "a.txt", "content": "x"})
    workspace.undo(to=start, dry_run=True)
    workspace.undo(to=start)
    workspace.redo()
    assert [r["tool"] for r in records] == ["checkpoint", "write", "undo", "undo", "redo"]
    assert records[0]["checkpoint"] == records[3]["to"] == start
    assert [r["changed"] for r in records[2:]] == [[], ["a.txt"], ["a.txt"]]


def test_a_mark_is_a_record_of_no_call(tmp_path):
    records = []
    workspace = Workspace(tmp_path, log=EventLog(records.append))
    with identified(session="s"):
        made = workspace.checkpoint("before")
    (record,) = records
    assert (record["mark"], record["tool"], record["name"]) == (
        "checkpoint",
        "checkpoint",
        "before",
    )
    assert (record["session"], record["checkpoint"], record["code"]) == ("s", made, "OK")


def test_what_json_does_not_know_is_logged_as_text(tmp_path):
    log = EventLog(tmp_path / "log", content=True)
    toolset("filesystem").bind(Workspace(tmp_path, log=log))["ls"].call({"path": {1, 2}})
    assert json.loads((tmp_path / "log").read_text())["arguments"] == {"path": "{1, 2}"}


def test_a_denied_call_and_an_approved_one_are_logged_alike(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    records = []
    answers = iter([False, True])
    workspace = Workspace(tmp_path, approve=lambda _: next(answers), log=EventLog(records.append))
    write = toolset("filesystem").bind(workspace)["write"]
    for _ in range(2):
        write.call({"path": "a.txt", "content": "b"})
    assert [r["code"] for r in records] == ["APPROVAL_DENIED", "OK"]
    assert "sha256_after" not in records[0]
    assert records[1]["sha256_before"] == digest("a")


def test_an_exception_is_logged_and_goes_on(tmp_path):
    records = []

    def approve(_):
        raise RuntimeError("stop")

    workspace = Workspace(tmp_path, approve=approve, log=EventLog(records.append))
    with pytest.raises(RuntimeError):
        toolset("filesystem").bind(workspace)["mkdir"].call({"path": "d"})
    assert records[0]["code"] == "RuntimeError"


def test_a_failing_sink_does_not_lose_the_outcome(tmp_path, caplog):
    log = EventLog(tmp_path / "no/such/folder/log")
    assert toolset("filesystem").bind(Workspace(tmp_path, log=log))["mkdir"].call({"path": "d"}).ok
    assert "The event log failed" in caplog.text


def test_spans_carry_the_call_in_the_callers_trace(tmp_path):
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from fsagent_tools.events.otel import spans

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    with trace.get_tracer("test").start_as_current_span("agent"):
        with identified(session="thread", run="r", call="c", user="ann", tenant="acme"):
            calls(tmp_path, EventLog(spans()))
        made = Workspace(tmp_path, log=EventLog(spans())).checkpoint()
        with_content = EventLog(spans(), content=True)
        bash = toolset("workspace").bind(Workspace(tmp_path, log=with_content))["bash"]
        bash.call({"command": "echo out; exit 3"})
    read, write, _, rm, _, ran, agent = exporter.get_finished_spans()
    assert read.name == "execute_tool read"
    assert dict(read.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c",
        "gen_ai.conversation.id": "thread",
        "fsagent.run": "r",
        "user.id": "ann",
        "fsagent.tenant": "acme",
        "fsagent.effect": "read",
        "fsagent.code": "OK",
        "fsagent.paths": ("a.txt",),
    }
    assert json.loads(ran.attributes["gen_ai.tool.call.arguments"])["command"] == "echo out; exit 3"
    assert ran.attributes["gen_ai.tool.call.result"].startswith("out")
    assert ran.attributes["process.exit.code"] == 3
    assert [(one.name, one.attributes["fsagent.checkpoint"]) for one in agent.events] == [
        ("fsagent.checkpoint", made)
    ]
    assert rm.status.description == "../b.txt is outside the workspace."
    assert write.attributes["fsagent.paths"] == ("a.txt",)
    assert rm.attributes["error.type"] == "PATH_OUTSIDE_WORKSPACE"
    assert not rm.status.is_ok
    assert read.parent.span_id == agent.context.span_id
    assert read.end_time > read.start_time


def test_a_command_is_logged_with_the_files_it_changed(tmp_path):
    (tmp_path / "gone.txt").write_text("1")
    (tmp_path / "same.txt").write_text("1")
    records = []
    tools = toolset("workspace").bind(Workspace(tmp_path, log=EventLog(records.append)))
    command = "mkdir -p d node_modules; echo x > d/k.txt; echo y > node_modules/z; rm gone.txt"
    assert tools["bash"].call({"command": command}).ok
    assert records[0]["command"] == command
    assert records[0]["changed"] == ["d/k.txt", "gone.txt"]


def test_changed_files_are_told_of_what_was_done_only(tmp_path):
    records = []
    calls(tmp_path, EventLog(records.append))
    assert [r["changed"] for r in records] == [[], ["a.txt"], ["a.txt", "b.txt"], [], []]


def test_a_tree_too_large_to_look_at_is_told_as_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr("fsagent_tools.events.event.MOST_ENTRIES", 1)
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("1")
    records = []
    tools = toolset("workspace").bind(Workspace(tmp_path, log=EventLog(records.append)))
    assert tools["bash"].call({"command": "true"}).ok
    assert records[0]["changed"] is None


async def test_a_record_names_session_run_and_call(tmp_path):
    records = []
    workspace = Workspace(tmp_path, log=EventLog(records.append))
    ls = toolset("workspace").bind(workspace)["ls"]
    ls.call({})
    with identified(session="thread 1", run="r"), identified(call="c"):
        ls.call({})
        await ls.acall({})
    ls.call({})
    ids = [(r["session"], r["run"], r["call"]) for r in records]
    own = workspace.session.id
    assert ids == [
        (own, None, ids[0][2]), ("thread 1", "r", "c"), ("thread 1", "r", "c"),
        (own, None, ids[3][2]),
    ]  # fmt: skip
    assert ids[0][2] != ids[3][2]


def test_what_a_command_changed_is_logged_as_diffs(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "secret").write_text("SECRET\n")
    (root / "large").write_bytes(b"1\n" * 700_000)
    records = []
    log, policy = EventLog(records.append, content=True), Policy(denied_paths=["secret"])
    tools = toolset("workspace").bind(Workspace(root, log=log, policy=policy))
    command = "sed -i s/two/2/ a.txt; mkdir d; mv a.txt d/b; echo x >> large; rm -f secret; exit 1"
    tools["bash"].call({"command": command})
    tools["bash"].call({"command": "true"})
    found = {one["path"]: one["diff"] for one in records[0]["diffs"]}
    assert found["d/b"].endswith("@@ -0,0 +1,2 @@\n+one\n+2")
    assert found["a.txt"].endswith("@@ -1,2 +0,0 @@\n-one\n-two")
    assert found["large"] == "changed large (1,400,002 bytes)"
    assert "secret" not in found
    assert records[1]["diffs"] == []
    other = Workspace(root, log=EventLog(records.append), policy=policy)
    toolset("workspace").bind(other)["bash"].call({"command": "rm -r d"})
    assert "diffs" not in records[2]
