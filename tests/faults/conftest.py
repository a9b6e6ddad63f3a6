"""A root with a place outside beside it, and sessions of any toolset on it."""

import socket

import pytest

from fsagent_tools import Policy, Workspace, toolset
from tests.web.site import Resolver, serve


@pytest.fixture
def outside(tmp_path):
    """A directory that nothing reaches, with a file in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "key.txt").write_text("TOP-DRAWER\n")
    return folder


@pytest.fixture
def start(root):
    """`start(toolset, **options)`: its tools on a session of their own."""
    opened = []

    def begin(name="workspace", at=None, **options):
        opened.append(Workspace(at or root, **options))
        return toolset(name).bind(opened[-1])

    yield begin
    for workspace in opened:
        workspace.close()


@pytest.fixture
def site():
    with serve() as running:
        yield running


@pytest.fixture
def names(monkeypatch):
    """What names lead to; `public.test` is the site."""
    resolver = Resolver({"public.test": ["127.0.0.1"]})
    monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
    return resolver.names


@pytest.fixture
def fetch(start, site, names):
    """Fetches a URL in which `PORT` is the site's; `public.test` may be reached."""
    pytest.importorskip("lxml")

    def call(url, timeout=20, **policy):
        policy.setdefault("allow_hosts", [f"public.test:{site.port}"])
        tool = start(policy=Policy(**policy))["webfetch"]
        return tool.call({"url": url.replace("PORT", str(site.port)), "timeout": timeout})

    return call
