"""Ways to a tool that is elsewhere: given a bound tool, its like at the other end."""

import asyncio
import socket
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import pytest
import uvicorn

import places
from fsagent_tools import TOOLSETS, MemoryFiles, Workspace, Workspaces, toolset
from fsagent_tools.remote import LocalChannel, remote_toolset
from fsagent_tools_mcp import HttpChannel, http_app, server
from fsagent_tools_mcp.server import seats
from fsagent_tools_places import SshChannel
from tests.conftest import PATIENCE, eventually


def same_elsewhere(channel, tool):
    """In a session of its own."""
    return remote_toolset(channel).bind(Workspace(files=MemoryFiles({})))[tool.name]


def answer(outcome):
    return outcome.text, outcome.ok, outcome.to_dict()


def here(tool, sent):
    return answer(same_elsewhere(LocalChannel([tool]), tool).call(sent))


def served(tool, sent):
    channel = _served(str(tool.workspace.root), _toolset_of(tool))
    return answer(same_elsewhere(channel, tool).call(sent))


def served_async(tool, sent):
    channel = _served(str(tool.workspace.root), _toolset_of(tool))
    return answer(asyncio.run(same_elsewhere(channel, tool).acall(sent)))


def on_ray(tool, sent):
    channel = _on_ray(_toolset_of(tool)).at(str(tool.workspace.root), NODES[-1])
    return answer(same_elsewhere(channel, tool).call(sent))


def on_ray_async(tool, sent):
    channel = _on_ray(_toolset_of(tool)).at(str(tool.workspace.root), NODES[-1])
    return answer(asyncio.run(same_elsewhere(channel, tool).acall(sent)))


def over_ssh(tool, sent):
    channel = _over_ssh(str(tool.workspace.root), _toolset_of(tool))
    return answer(same_elsewhere(channel, tool).call(sent))


SSH = []  # words for it, once there is a server
OVER_SSH = [over_ssh] if places.SSHD else []
NODES = []  # of the cluster, once there is one
ON_RAY = [on_ray, on_ray_async] if find_spec("ray") else []


def _toolset_of(tool):
    """Its name: the one that has this row beside the same others."""
    for name in TOOLSETS:
        like = _bound(name).get(tool.name)
        alike = like and (like.named, like.view) == (tool.named, tool.view)
        if alike and _row(like) == _row(tool):
            return name
    raise AssertionError(f"{tool} is in no toolset as it is")


def _row(tool):
    return replace(tool.entry, name=tool.name)


@cache
def _bound(name):
    return toolset(name).bind(Workspace(files=MemoryFiles({})))


@cache
def _served(root, name):
    app = http_app(server(Workspaces(seats(root)), name))
    served = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    threading.Thread(target=served.run, daemon=True).start()
    assert eventually(lambda: served.started)
    (port,) = {sock.getsockname()[1] for each in served.servers for sock in each.sockets}
    return HttpChannel(f"http://127.0.0.1:{port}")


@cache
def _over_ssh(root, name):
    return SshChannel("127.0.0.1", root, ssh=SSH, toolset=name, **places.FAR)


@cache
def _on_ray(name):
    return pytest.importorskip("fsagent_tools_ray").RayWorkspaces(name)


@contextmanager
def running(app):
    """The URL of an ASGI application that is served here."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # a connection is kept however long its client takes to ask again
        config = uvicorn.Config(app, log_level="warning", timeout_keep_alive=PATIENCE, ws="none")
        served = uvicorn.Server(config)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert eventually(lambda: served.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        served.should_exit = True
        thread.join(PATIENCE)
