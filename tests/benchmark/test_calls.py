"""Recorded edit calls: four trajectory formats are read, and a replay says what became of each."""

import json

import pytest

from benchmark.calls.form import Call, read, write
from benchmark.calls.importers import imported
from benchmark.calls.main import main, sample
from benchmark.calls.replay import compared, replay
from benchmark.dialects.quotes import Quotes
from benchmark.packs import OURS
from benchmark.running import OwnTools

BEFORE, OLD, NEW = "def f():\n    return 1\n", "    return 1", "    return 2"
AFTER = BEFORE.replace(OLD, NEW)
NUMBERED = "".join(f"{n:6}\t{line}\n" for n, line in enumerate(BEFORE.splitlines(), 1))
SENT = {"path": "/w/a.py", "old_str": OLD, "new_str": NEW}
DONE = "The file /w/a.py has been edited."


def function(name, key, **arguments):
    return {"id": key, "function": {"name": name, "arguments": json.dumps(arguments)}}


def swe_agent():
    view = function("str_replace_editor", "1", command="view", path="/w/a.py")
    edit = function("str_replace_editor", "2", command="str_replace", **SENT)
    told = [("1", f"Here's the result of running `cat -n` on /w/a.py:\n{NUMBERED}"), ("2", DONE)]
    history = [{"role": "assistant", "tool_calls": [view, edit]}]
    history += [{"role": "tool", "tool_call_ids": [key], "content": text} for key, text in told]
    return json.dumps({"history": history, "trajectory": []})


def swe_agent_commands():
    edit = f"str_replace_editor str_replace /w/a.py --old_str '{OLD}' --new_str '{NEW}'"
    turns = [
        {
            "action": f"str_replace_editor create /w/a.py --file_text '{BEFORE}'",
            "observation": "ok",
        },
        {"action": "ls -F", "observation": "a.py"},
        {"action": edit, "observation": DONE},
    ]
    return json.dumps({"trajectory": turns})


def open_hands():
    kept = {"old_content": BEFORE, "new_content": AFTER}
    return json.dumps(
        [
            {"id": 3, "action": "edit", "args": {"command": "str_replace", **SENT}},
            {"id": 4, "observation": "edit", "cause": 3, "content": DONE, "extras": kept},
        ]
    )


def open_hands_second():
    action = {"kind": "FileEditorAction", "command": "str_replace", **SENT}
    told = {"old_content": BEFORE, "new_content": AFTER, "is_error": False, "content": DONE}
    return json.dumps(
        [
            {"kind": "ActionEvent", "tool_call_id": "c", "action": action},
            {"kind": "ObservationEvent", "tool_call_id": "c", "observation": told},
        ]
    )


def atif():
    calls = [
        {
            "tool_call_id": "1",
            "function_name": "write",
            "arguments": {"path": "/w/a.py", "content": BEFORE},
        },
        {"tool_call_id": "2", "function_name": "edit", "arguments": SENT},
    ]
    results = [{"source_call_id": key, "content": "done"} for key in ("1", "2")]
    step = {
        "step_id": 1,
        "source": "agent",
        "tool_calls": calls,
        "observation": {"results": results},
    }
    return json.dumps({"schema_version": "ATIF-v1.4", "steps": [step]})


def pi():
    def message(**inner):
        return json.dumps({"type": "message", "id": "x", "parentId": None, "message": inner})

    def call(key, name, **arguments):
        block = {"type": "toolCall", "id": key, "name": name, "arguments": arguments}
        return message(role="assistant", content=[block])

    def told(key, text):
        content = [{"type": "text", "text": text}]
        return message(role="toolResult", toolCallId=key, content=content, isError=False)

    pair = {"oldText": OLD, "newText": NEW}
    return "\n".join([
        json.dumps({"type": "session", "version": 3}),
        call("1", "read", path="a.py"), told("1", BEFORE),
        call("2", "edit", path="a.py", edits=[pair]), told("2", "Replaced"),
    ])  # fmt: skip


FORMATS = [
    ("swe-agent", swe_agent), ("swe-agent", swe_agent_commands), ("openhands", open_hands),
    ("openhands", open_hands_second), ("atif", atif), ("pi", pi),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "made"), FORMATS, ids=lambda x: getattr(x, "__name__", x))
def test_an_edit_of_a_trajectory_is_read_with_the_file_it_met(kind, made, tmp_path):
    path = tmp_path / "trajectory"
    path.write_text(made())
    (call,) = imported(kind, path)
    assert (call.before, call.old, call.new) == (BEFORE, OLD, NEW)
    assert (call.ok, call.after) == (True, AFTER)


def test_an_edit_of_a_file_that_nobody_showed_is_left_out(tmp_path):
    path = tmp_path / "trajectory"
    path.write_text(swe_agent().replace("result", "result, truncated").replace("create", "view"))
    assert list(imported("swe-agent", path)) == []


def test_calls_outlive_a_file(tmp_path):
    calls = [Call("1", "pi", "a.py", BEFORE, OLD, NEW, ok=True, after=AFTER)]
    assert write(tmp_path / "calls.jsonl", calls) == 1
    assert list(read(tmp_path / "calls.jsonl")) == calls


def test_a_call_by_line_numbers_is_replayed_by_quote_and_by_id(tmp_path):
    call = Call("1", "mine", "a.py", BEFORE, "", NEW, after=AFTER, lines=(2, 2))
    for pack in OURS:
        with OwnTools(pack, tmp_path) as tools:
            told = replay(tools, pack.make(), tmp_path, call)
        assert told["outcome"] == "same"


def test_a_quote_inside_a_line_has_no_line_numbers():
    call = Call("1", "mine", "a.py", BEFORE, "return 1", "return 2")
    assert call.hunk is None


def test_a_replay_says_what_became_of_the_call(tmp_path):
    call = Call("1", "pi", "a.py", BEFORE, OLD, NEW, ok=True, after=AFTER)
    absent = Call("2", "pi", "a.py", BEFORE, "    raise", NEW, ok=False, after=BEFORE)
    (pack,) = (one for one in OURS if one.name == "edit_file (file_ops)")
    with OwnTools(pack, tmp_path) as tools:
        done, refused = (replay(tools, Quotes(), tmp_path, each) for each in (call, absent))
    assert (done["outcome"], done["parsed"], done["parses"]) == ("same", True, True)
    assert refused["outcome"] == "refused, too"


@pytest.mark.parametrize(
    ("after", "ok", "told"),
    [
        ("def f():\n        return 2\n", True, {"outcome": "different", "reindented": True}),
        ("def f():\n    return 2\n    return 2\n", True, {"duplicated": True}),
        ("def f(:\n", True, {"parsed": True, "parses": False}),
        (BEFORE, False, {"outcome": "refused"}),
    ],
)
def test_what_differs_is_named(after, ok, told):
    call = Call("1", "pi", "a.py", BEFORE, OLD, NEW, ok=True, after=AFTER)
    assert told.items() <= compared(call, ok, after).items()


def test_the_sample_is_replayed_by_one_command_and_not_twice(tmp_path, capsys):
    words = ["--quick", "--only", "edit (compact)", "--out", str(tmp_path)]
    main(words)
    first = (tmp_path / "calls.jsonl").read_text()
    main(words)
    assert (tmp_path / "calls.jsonl").read_text() == first
    assert "| edit (compact) |" in capsys.readouterr().out
    assert len(sample()) >= 300


def test_an_unknown_format_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(SystemExit, match="swe-agent, openhands, atif, pi"):
        main(["--import", "cursor", "x", "--out", str(tmp_path)])
