"""Pictures reach each provider in the role that it takes them in, built by its own package."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI

from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware

TURNS = [[call("read", file_path="noise.png"), call("ls", path=".")], "Done."]


@pytest.fixture
def conversation(shop):
    """What an agent said that looked at a picture, up to its last word."""
    image = pytest.importorskip("PIL.Image")
    image.effect_noise((30, 30), 90).save(shop / "noise.png")
    agent = create_agent(ScriptedChatModel(TURNS), middleware=[FsAgentMiddleware(shop)])
    return agent.invoke({"messages": [("user", "Look.")]})["messages"][:-1]


def sent(model, conversation, shop, **options):
    """The role of each message that the provider would get, and whether it has a picture."""
    seen = []

    def handler(request):
        seen.extend(request.messages)
        return AIMessage("")

    request = ModelRequest(model=model, messages=[*conversation])
    FsAgentMiddleware(shop, **options).wrap_model_call(request, handler)
    payload = model._get_request_payload(seen)
    return [
        (each.get("role"), "base64" in str(each))
        for each in payload.get("messages") or payload["input"]
    ]


OPENAI = ChatOpenAI(model="gpt-5", api_key="none")
RESPONSES = ChatOpenAI(model="gpt-5", api_key="none", use_responses_api=True)
ANTHROPIC = ChatAnthropic(model="claude-sonnet-4-5", api_key="none")


def test_chat_completions_of_openai_get_them_from_the_user(conversation, shop):
    assert sent(OPENAI, conversation, shop) == [
        ("user", False),
        ("assistant", False),
        ("tool", False),
        ("tool", False),
        ("user", True),
    ]


def test_what_takes_them_from_tools_gets_them_there(conversation, shop):
    assert sent(RESPONSES, conversation, shop)[-2:] == [(None, True), (None, False)]
    assert sent(ANTHROPIC, conversation, shop)[-1] == ("user", True)  # where its tools answer


def test_the_host_may_say_where_they_go(conversation, shop):
    assert ("tool", True) in sent(OPENAI, conversation, shop, images="tool")
    assert sent(RESPONSES, conversation, shop, images="user")[-1] == ("user", True)


def test_what_the_agent_keeps_stays_as_it_was(conversation, shop):
    before = [message.model_copy(deep=True) for message in conversation]
    sent(OPENAI, conversation, shop)
    assert conversation == before
