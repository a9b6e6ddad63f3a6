"""What a policy denies is not even read by a search, and nothing else is left out for it."""

import math

import pytest

from fsagent_tools import Policy, Workspace
from fsagent_tools.search.query import Query
from fsagent_tools.search.ripgrep import Search
from fsagent_tools.search.start import Start

DENIED = (
    "*.key",
    "secrets",
    "./sub/private/**",
    "a*/x.txt",
    "a.b/**/deep",
    "/etc",
    ".hid",
    "{c,d}.txt",
)
OTHERWISE = ("[ab].txt", "**/?.md")  # in words that ripgrep may read otherwise
FILES = (
    *("a.key", "sub/b.key", "secrets/s.txt", "sub/secrets", "sub/private/p.txt", "private/p.txt"),
    *("ab/x.txt", "ab/c/x.txt", "x.txt", "a.b/c/deep/d", "aXb/c/deep/d", "a.txt", "c.txt", "e.txt"),
    *("é.md", "ee.md", "sub/ab/x.txt", "sub/c.txt", "sub/keys", "sub/f.txt", ".hid/f", "sub/.hid"),
)


@pytest.mark.parametrize("path", [".", "sub"])
@pytest.mark.parametrize("denied", [DENIED, OTHERWISE, (*DENIED, *OTHERWISE), ()])
def test_what_is_denied_is_not_read_and_all_else_is(tmp_path, path, denied):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("need\n")
    policy = Policy(denied_paths=denied)
    workspace = Workspace(tmp_path, policy=policy)
    with workspace.files.directory(path) as top:
        start = Start(top.place, workspace.files)
        search = Search(Query("need", hidden=True), top, start, math.inf, 100)
        read = {start.relative(line.path) for line in search.run()}
    beneath = {name for name in FILES if path == "." or name.startswith("sub/")}
    allowed = {name for name in beneath if policy.explain("read", name).allowed}
    plain = Policy(denied_paths=[each for each in denied if each in DENIED])
    assert read == {name for name in beneath if plain.explain("read", name).allowed}
    assert allowed <= read
    hits = workspace.search("need", path=path, limit=100).hits
    assert {hit.path for hit in hits} == {name for name in allowed if "/." not in f"/{name}"}
