"""A server, a resolver, and the two tools bound to a workspace that may reach the server."""

import socket

import pytest

from fsagent_tools import Policy, Toolset, Workspace
from fsagent_tools.types import Entry
from tests.web.site import Resolver, serve

FETCHING = ("format", "timeout", "offset")


@pytest.fixture
def site():
    with serve() as running:
        yield running


@pytest.fixture
def resolver(monkeypatch):
    resolver = Resolver({"public.test": ["127.0.0.1"]})
    monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
    return resolver


def bind(path, **policy):
    """webfetch and websearch, by name."""
    workspace = Workspace(path, policy=Policy(**policy))
    return Toolset(
        "web", (Entry("webfetch", show=FETCHING), Entry("websearch", show=("num_results",)))
    ).bind(workspace)


@pytest.fixture
def fetch(tmp_path, site, resolver):
    """Calls webfetch with a URL and more arguments; `public.test` is the server."""
    tool = bind(tmp_path, allow_hosts=(f"public.test:{site.port}",))["webfetch"]
    return lambda url, hidden=None, **arguments: tool.call(
        {"url": url, **arguments}, **(hidden or {})
    )
