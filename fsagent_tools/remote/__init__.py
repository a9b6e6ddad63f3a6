"""Tools that run elsewhere: the same `Tool`s, each call carried to them by a channel."""

from fsagent_tools.call import CancelFlag
from fsagent_tools.remote.away import lost, unreachable
from fsagent_tools.remote.channel import Channel, Described, Question, RemoteReply, Sending
from fsagent_tools.remote.local import LocalChannel, as_sent
from fsagent_tools.remote.slices import sliced, unsliced
from fsagent_tools.remote.tools import Elsewhere, remote_toolset, served_at
from fsagent_tools.remote.verbs import RemoteWorkspace, repeatable
from fsagent_tools.runtime.weight import LARGEST_MESSAGE, check_weight

__all__ = [
    "LARGEST_MESSAGE",
    "CancelFlag",
    "Channel",
    "Described",
    "Elsewhere",
    "LocalChannel",
    "Question",
    "RemoteReply",
    "RemoteWorkspace",
    "Sending",
    "as_sent",
    "check_weight",
    "lost",
    "remote_toolset",
    "repeatable",
    "served_at",
    "sliced",
    "unreachable",
    "unsliced",
]
