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
    assert script.answer(conversation()).text == script.answer(conversation()).text == "one"


def test_an_agent_that_goes_on_too_long_is_told_so():
    with pytest.raises(IndexError, match=r"The script has 1 turns.*The last message was: boom"):
        Script(["one"]).answer(conversation("boom"))


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


def test_the_newest_id_of_a_line_counts():
    assert line_id(conversation("[LID:aaaaaa] x", "[LID:bbbbbb] x"), "x") == "bbbbbb"


def test_a_line_that_no_tool_showed_is_an_error():
    with pytest.raises(LookupError, match="No tool has shown a line with 'x'"):
        line_id([Message("user", "[LID:aaaaaa] x")], "x")


def test_langchain_streams_what_it_says():
    model = ScriptedChatModel(["two  words", call("read", path="ä")])
    assert [chunk.text for chunk in model.stream("go")] == ["two  ", "words", ""]
    first, *rest = model.stream([("user", "go"), ("ai", "")])
    for chunk in rest:
        first += chunk
    assert first.tool_calls == model.invoke([("user", "go"), ("ai", "")]).tool_calls
    assert first.tool_calls[0]["args"] == {"path": "ä"}


def test_llamaindex_streams_what_it_says():
    llm = ScriptedLLM(["two  words"])
    *_, last = llm.stream_chat([ChatMessage("go")])
    assert last.message.content == "two  words"
    assert llm.chat([ChatMessage("go")]).message.content == "two  words"
