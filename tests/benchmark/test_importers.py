"""Records of trajectories that are not as their format says: named, counted, never guessed."""

import json
import re

import pytest

from benchmark.calls.form import Call, read, write
from benchmark.calls.importers import imported
from benchmark.calls.main import main
from benchmark.calls.records import Bad
from tests.benchmark.test_calls import (
    AFTER,
    BEFORE,
    NEW,
    OLD,
    SENT,
    open_hands,
    open_hands_second,
    swe_agent,
    swe_agent_commands,
)


def lined(*entries):
    return "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in entries)


def answered(key, **more):
    message = {"role": "toolResult", "toolCallId": key, "content": "Replaced", "isError": False}
    return {"type": "message", "message": message | more}


def asked(key, **arguments):
    block = {"type": "toolCall", "id": key, "name": "edit", "arguments": arguments}
    return {"type": "message", "message": {"role": "assistant", "content": [block]}}


WRITTEN = (asked("1", path="a.py", content=BEFORE), answered("1"))
EDIT = {"path": "a.py", "edits": [{"oldText": OLD, "newText": NEW}]}
GOOD = (asked("2", **EDIT), answered("2"))


def edited(step, **call):
    """An ATIF trajectory whose only step makes a file and edits it."""
    made = {"tool_call_id": "1", "function_name": "write",
            "arguments": {"path": "/w/a.py", "content": BEFORE}}  # fmt: skip
    edit = {"tool_call_id": "2", "function_name": "edit", "arguments": SENT} | call
    results = [{"source_call_id": key, "content": "done"} for key in ("1", "2")]
    whole = {"tool_calls": [made, edit], "observation": {"results": results}} | step
    return json.dumps({"steps": [whole]})


BAD = {
    "pi, torn": ("pi", lined(*WRITTEN, '{"type": "message", "mess', *GOOD), "line 3: no JSON", 1),
    "pi, no object": ("pi", lined(*WRITTEN, "[1]", *GOOD), "line 3: list in place of", 1),
    "pi, no message": ("pi", lined(*WRITTEN, {"type": "message"}, *GOOD), "line 3: a message", 1),
    "pi, no name": (
        "pi", lined(*WRITTEN, lined(*GOOD).replace('"name": "edit", ', "")), "line 3: name", 0,
    ),
    "pi, given": ("pi", lined(*WRITTEN, lined(asked("2")).replace("{}", '"x"')), "line 3: a", 0),
    "pi, no result": ("pi", lined(*WRITTEN, GOOD[0]), "line 3: an edit of which no result", 0),
    "pi, result": ("pi", lined(*WRITTEN, *GOOD, answered("2", isError=None)), "line 5: isError", 1),
    "pi, no path": ("pi", lined(asked("1", edits=EDIT["edits"])), "an edit without a path", 0),
    "pi, edits as text": ("pi", lined(asked("1", path="a", edits="x")), "line 1: edits: str in", 0),
    "pi, an edit as text": ("pi", lined(asked("1", path="a", edits=["x"])), "1: edits: str in", 0),
    "pi, old is a number": (
        "pi", lined(asked("1", path="a", edits=[{"oldText": 1}])), "line 1: old or new", 0,
    ),
    "pi, deep": ("pi", lined(*WRITTEN, "[" * 100_000, *GOOD), "line 3: nested too deeply", 1),
    "swe, torn": ("swe-agent", swe_agent()[:-9], "line 1, column .*no JSON", 0),
    "swe, a list": ("swe-agent", "[]", "the file: list in place of an object", 0),
    "swe, history": ("swe-agent", '{"history": 5}', "history: int in place of a list", 0),
    "swe, arguments": (
        "swe-agent", swe_agent().replace('{\\"command\\": \\"str_replace', "{x"),
        r"history\[0\].tool_calls\[1\]: no JSON", 0,
    ),
    "swe, quotes": (
        "swe-agent", swe_agent_commands().replace("--old_str '", "--old_str "),
        r"trajectory\[2\]: no command", 0,
    ),
    "openhands, no ID": ("openhands", open_hands().replace('"id": 3, ', ""), "event 0: id", 0),
    "openhands, second": (
        "openhands", open_hands_second().replace('"tool_call_id": "c", "act', '"act'),
        "event 0: tool_call_id: Field", 0,
    ),
    "openhands, no list": ("openhands", '{"history": {}}', "history: dict in place of a list", 0),
    "atif, arguments": ("atif", edited({}, arguments="x"), r"tool_calls\[1\]: arg", 0),
    "atif, results": (
        "atif", edited({"observation": {"results": "x"}}), r"observation.results: str", 0,
    ),
    "atif, a result": (
        "atif", edited({"observation": {"results": [{"source_call_id": 7}]}}),
        r"results\[0\]: source_call_id: Input", 0,
    ),
    "atif, a step": ("atif", '{"steps": ["x"]}', r"steps\[0\]: str in place of an object", 0),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "why", "kept"), BAD.values(), ids=BAD)
def test_a_bad_record_is_named_and_those_around_it_are_read(kind, text, why, kept, tmp_path):
    path = tmp_path / "trajectory"
    path.write_text(text)
    found = list(imported(kind, path))
    bad = [each for each in found if isinstance(each, Bad)]
    assert any(re.search(why, str(each)) for each in bad), bad
    assert sum(isinstance(each, Call) for each in found) == kept


def test_bad_records_are_counted_and_the_first_of_them_told(tmp_path, capsys):
    path = tmp_path / "session.jsonl"
    path.write_text(lined(*WRITTEN, *GOOD, *["{"] * 30))
    words = ["--import", "pi", str(path), "--only", "edit (compact)", "--out", str(tmp_path)]
    main([*words, "--save", str(tmp_path / "saved.jsonl")])
    told = capsys.readouterr().out
    assert "1 calls." in told
    assert "30 records could not be read" in told
    assert f"- {path}, line 5: no JSON" in told
    assert "- and 10 more" in told
    assert told.count("no JSON") == 20
    assert len(list(read(tmp_path / "saved.jsonl"))) == 1


def test_carriage_returns_a_byte_order_mark_and_strange_line_ends_change_nothing(tmp_path):
    plain = lined(*WRITTEN, *GOOD).replace("return 1", "return '\u2028\x85'")
    path = tmp_path / "session"
    path.write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    text = json.dumps(json.loads(plain.split("\n")[0]), ensure_ascii=False)
    path.write_bytes(path.read_bytes().replace(plain.split("\n")[0].encode(), text.encode()))
    (call,) = imported("pi", path)
    assert call.before == BEFORE.replace("return 1", "return '\u2028\x85'")
    crlf = lined(*WRITTEN, *GOOD).replace("\\n", "\\r\\n")
    path.write_text(crlf)
    (call,) = imported("pi", path)
    assert call.before == BEFORE.replace("\n", "\r\n")
    assert (call.old, call.after) == (OLD, AFTER.replace("\n", "\r\n"))


def test_a_line_of_many_megabytes_is_read(tmp_path):
    path = tmp_path / "session"
    long = BEFORE + "# " + "x" * 5_000_000 + "\n"
    path.write_text(lined(asked("1", path="a.py", content=long), answered("1"), *GOOD))
    (call,) = imported("pi", path)
    assert call.before == long


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "session"
    path.write_bytes(lined(*WRITTEN, *GOOD).encode() + b'\n{"x": "\xff"}')
    *calls, bad = imported("pi", path)
    assert len(calls) == 1
    assert str(bad) == "line 5: byte 7 is no UTF-8"


def test_trajectories_that_count_alike_are_told_apart(tmp_path):
    names = set()
    for number in range(2):
        path = tmp_path / f"{number}"
        path.write_text(lined({"type": "session", "id": number}, *WRITTEN, *GOOD))
        names |= {call.id for call in imported("pi", path)}
    assert len(names) == 2


def test_an_id_that_comes_again_is_answered_by_what_follows_it(tmp_path):
    path = tmp_path / "session"
    back = {"path": "a.py", "edits": [{"oldText": NEW, "newText": OLD}]}
    path.write_text(lined(*WRITTEN, *GOOD, asked("2", **back), answered("2", isError=True)))
    first, second = imported("pi", path)
    assert (first.ok, first.after) == (True, AFTER)
    assert (second.ok, second.after) == (False, AFTER)


def test_what_is_shown_again_is_not_done_again(tmp_path):
    path = tmp_path / "trajectory"
    path.write_text(edited({"is_copied_context": True}))
    assert list(imported("atif", path)) == []
    demo = json.loads(swe_agent())
    demo["history"][0]["is_demo"] = True
    path.write_text(json.dumps(demo))
    assert list(imported("swe-agent", path)) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"x": 1}', "line 2: .*"),
        ("{", "line 2: Invalid JSON"),
        ('{"id": 1, "source": "", "path": "", "before": "", "old": "", "new": ""}', "line 2: id: "),
        (
            '{"id": "", "source": "", "path": "", "before": "a", "old": "", "new": "", "lines": '
            "[2, 1]}",
            "line 2: .*lines are from 1 to 1",
        ),
    ],
)
def test_a_line_that_is_no_recorded_call_is_named(line, why, tmp_path):
    path = tmp_path / "calls.jsonl"
    call = Call("1", "pi", "a.py", BEFORE, OLD, NEW, ok=True, after=AFTER, lines=(1, 2))
    write(path, [call])
    path.write_text(f"\n{line}\n{path.read_text()}")
    bad, kept = read(path)
    assert re.match(why, str(bad))
    assert kept == call
