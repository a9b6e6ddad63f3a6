"""Scripted offline models: an agent test without a network, for both frameworks.

The models are `fsagent_tools.testing.langchain.ScriptedChatModel` and
`fsagent_tools.testing.llamaindex.ScriptedLLM`; one script drives either.
"""

from fsagent_tools.testing.script import Call, Message, Script, Turn, call, line_id

__all__ = ["Call", "Message", "Script", "Turn", "call", "line_id"]
