"""What a workspace starts is started once, however many threads ask for it first."""

import threading

import pytest

from fsagent_tools import Workspace

SERVICES = ("changeable", "history", "jobs", "programs", "caches", "closed", "servers")


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


@pytest.mark.parametrize("name", SERVICES)
def test_two_threads_that_ask_first_get_the_same(root, monkeypatch, name):
    workspace = Workspace(root)
    one, other = asked_by_two(workspace.services, name, monkeypatch)
    assert one is other is getattr(workspace.services, name)
    workspace.close()
