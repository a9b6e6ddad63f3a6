"""Scripted models: what a user's own tests lean on."""

import pytest
from llama_index.core.llms import ChatMessage

from fsagent_tools.testing import Message, Script, call, line_id
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM


def conversation(*answers):
    messages = [Message("user", "go")]
    for answer in answers:
        messages += [Message("assistant", ""), Message("tool", answer)]
    return messages


def played(script, times, **options):
    """What it says to a history of its own turns."""
    history = [Message("user", "go")]
    for _ in range(times):
        answer = script.answer(history, **options)
        history.append(Message("assistant", answer.text, answer.mark))
        yield answer.text or [one.name for _, one in answer.calls]


def test_turns_are_text_calls_or_worked_out():
    script = Script(
        ["hi", call("read", path="a"), [call("a"), call("b")], lambda said: said[-1].text]
    )
    assert script.answer(conversation()).text == "hi"
    ((id_, one),) = script.answer(conversation("x")).calls
    assert (id_, one.name, one.arguments) == ("call_1_0", "read", {"path": "a"})
    assert [one.name for _, one in script.answer(conversation("x", "y")).calls] == ["a", "b"]
    assert script.answer(conversation("x", "y", "z")).text == "z"


def test_a_script_serves_several_runs():
    script = Script(["one", "two"])
    assert [*played(script, 2), *played(script, 2)] == ["one", "two", "one", "two"]


def test_each_thread_has_its_own_place():
    script = Script(["one", "two"])
    first, second = played(script, 2, thread="a"), played(script, 2, thread="b")
    assert [next(first), next(second), next(first), next(second)] == ["one", "one", "two", "two"]


def test_a_history_that_lost_messages_is_gone_on_with():
    script = Script(["one", "two", "three"])
    said = [script.answer([Message("user", "a summary")]).text for _ in range(3)]
    assert said == ["one", "two", "three"]


def test_another_process_goes_on_where_the_history_ends():
    turns = ["one", call("read"), lambda said: "three"]
    history = [Message("user", "go")]
    for expected in ("one", "", "three"):
        answer = Script(turns).answer(history)
        assert answer.text == expected
        history.append(Message("assistant", answer.text, answer.mark))


def test_what_another_script_said_is_not_its_own():
    answer = Script(["theirs"]).answer([Message("user", "go")])
    history = [Message("user", "go"), Message("assistant", answer.text, answer.mark)]
    assert Script(["ours"]).answer(history).text == "ours"


def test_an_agent_that_goes_on_too_long_is_told_so():
    script = Script(["one"])
    said = script.answer(conversation())
    with pytest.raises(IndexError, match=r"The script has 1 turns.*The last message was: boom"):
        script.answer([Message("assistant", "", said.mark), Message("tool", "boom")])


@pytest.mark.parametrize(
    "shown",
    [
        "[LID:a3f2c1] def parse(text):",
        "a3f2c1|def parse(text):",
        "shop/prices.py:4:[LID:a3f2c1]:def parse(text):",
    ],
)
def test_a_line_id_is_taken_from_what_a_tool_showed(shown):
    assert line_id(conversation(f"noise\n{shown}\n", "later"), "def parse") == "a3f2c1"


@pytest.mark.parametrize("before", ["", "4 ", "+", " "])
def test_behind_an_id_that_is_a_word_stand_two_words_of_its_line(before):
    shown = f"{before}amp.bek\tdef parse(text): pass"
    assert line_id(conversation(shown, "later"), "def parse") == "amp.bek def parse(text):"
    assert line_id(conversation(f"{before}amp\t}}"), "}") == "amp }"


def test_the_newest_id_of_a_line_counts():
    assert line_id(conversation("[LID:aaaaaa] x", "[LID:bbbbbb] x"), "x") == "bbbbbb"


def test_a_line_that_no_tool_showed_is_an_error():
    with pytest.raises(LookupError, match="No tool has shown a line with 'x'"):
        line_id([Message("user", "[LID:aaaaaa] x")], "x")


def test_langchain_streams_what_it_says():
    same = call("read", path="ä")
    model = ScriptedChatModel(["two  words", same, same])
    assert [chunk.text for chunk in model.stream("go")] == ["two  ", "words", ""]
    first, *rest = model.stream([("user", "go"), ("ai", "")])
    for chunk in rest:
        first += chunk
    told = model.invoke([("user", "go"), ("ai", "")]).tool_calls
    assert [(c["name"], c["args"]) for c in first.tool_calls] == [
        (c["name"], c["args"]) for c in told
    ]
    assert first.tool_calls[0]["args"] == {"path": "ä"}


def test_llamaindex_streams_what_it_says():
    llm = ScriptedLLM(["two  words"])
    *_, last = llm.stream_chat([ChatMessage("go")])
    assert last.message.content == "two  words"
    assert llm.chat([ChatMessage("go")]).message.content == "two  words"
