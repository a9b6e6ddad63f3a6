"""What a workspace starts is started once, however many threads ask for it first."""

import threading

import pytest

from fsagent_tools import Workspace
from fsagent_tools.history.history import History
from fsagent_tools.workspace.services import Services

SERVICES = ("history", "jobs", "programs", "launcher", "closed", "servers")


def asked_by_two(holder, name, monkeypatch):
    """What two threads get, of whom one asks while it is being made for the other."""
    made, asking = vars(type(holder))[name], []
    make, got = made.func, []

    def slowly(one):
        if not asking:
            asking.append(threading.Thread(target=lambda: got.append(getattr(holder, name))))
            asking[0].start()
            asking[0].join(0.1)
        return make(one)

    monkeypatch.setattr(made, "func", slowly)
    mine = getattr(holder, name)
    asking[0].join()
    return mine, got[0]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((Services, name) for name in SERVICES),
        (History, "commands"),
    ],
)
def test_two_threads_that_ask_first_get_the_same(root, monkeypatch, kind, name):
    workspace = Workspace(root)
    holders = {
        Services: lambda: workspace.services,
        History: lambda: workspace.services.history,
    }
    one, other = asked_by_two(holders[kind](), name, monkeypatch)
    assert one is other is getattr(holders[kind](), name)
    workspace.close()
