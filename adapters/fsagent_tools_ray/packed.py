"""Calls and answers as bytes, which Ray carries without a look: its own pickling takes longer."""

import pickle
from dataclasses import replace
from typing import Any

from fsagent_tools.remote import Question, RemoteReply, Sending, sliced, unsliced

Reply = RemoteReply | Question


def packed_call(key: str, number: int, sending: Sending) -> bytes:
    """key: names the call. number: of what serves it in the actor."""
    asked = sending.ask, sending.answer, sending.session, sending.call, sending.scope
    return pickle.dumps((key, number, (sending.name, dict(sending.arguments), *asked)))


def unpacked_call(packed: bytes) -> tuple[str, int, Sending]:
    key, number, sent = pickle.loads(packed)
    return key, number, Sending(*sent)


def packed_reply(reply: Reply) -> bytes:
    if isinstance(reply, RemoteReply):
        reply = replace(reply, told=sliced(reply.told, reply.text))
    return pickle.dumps(reply)


def unpacked_reply(packed: bytes) -> Reply:
    reply: Any = pickle.loads(packed)
    if isinstance(reply, RemoteReply):
        return replace(reply, told=unsliced(reply.told, reply.text))
    return Question(reply.state, reply.paths, reply.diff)
