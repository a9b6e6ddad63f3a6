"""Which entries each toolset lists and searches: on disk, in memory, with and without ripgrep."""

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, toolset
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.search.walk import NOISE

SHOWN = {"src/a.yml", ".github/ci.yml", ".env.yml", ".ai/notes.yml"}
NOISY = {f"{name}/x.yml" for name in NOISE} | {"p.egg-info/x.yml"}
OURS = {".ai/cache/x.yml"}
PLAIN_NOISE = {path for path in NOISY if path[0] != "."}
TOOLS = {
    "workspace": ("glob", "grep", "files"),
    "line_ids": ("glob", "grep", "files"),
    "compact": ("Glob", "Grep", "files"),
    "filesystem": ("find", "grep", "files"),
}


@pytest.fixture(params=["ripgrep", "fallback", "memory"])
def opened(request, root, lacking):
    """`opened(name, **policy)`: a toolset's tools over the same files."""
    if request.param == "fallback":
        lacking("ripgrep")
    contents = dict.fromkeys(SHOWN | NOISY | OURS, "need\n")
    for path, text in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    workspaces = []

    def tools(name, **policy):
        memory = request.param == "memory"
        where = {"files": MemoryFiles(contents)} if memory else {"root": root}
        workspaces.append(Workspace(**where, policy=Policy(**policy)))
        return toolset(name).bind(workspaces[-1])

    yield tools
    for workspace in workspaces:
        workspace.close()


def found(out, tool):
    """The paths beneath the root of what a tool lists."""
    rows = out.data.get("files") or [row["file"] for row in out.data.get("matches", ())]
    top = str(tool.workspace.root).rstrip("/") + "/"
    return {path.removeprefix(top) for path in rows}


def searched(tools, name, **hidden):
    glob, grep, _ = TOOLS[name]
    listed = tools[glob].call({"pattern": "*.yml"}, **hidden)
    matched = tools[grep].call({"pattern": "need"}, **hidden)
    assert found(listed, tools[glob]) == found(matched, tools[grep])
    return found(listed, tools[glob]), (listed.text, matched.text)


@pytest.mark.parametrize("name", ["workspace", "line_ids"])
def test_dot_entries_are_shown_and_the_sixteen_directories_left_out(opened, name):
    tools = opened(name)
    paths, texts = searched(tools, name)
    assert paths == SHOWN
    for text in texts:
        assert "Left out (dependencies and builds): .eggs, .hg, .mypy_cache, .nox" in text
    assert tools["ls"].call({}).text.startswith(".ai/\n.github/\nsrc/\n.env.yml\nLeft out (")
    assert len(NOISE) == 15  # and *.egg-info


def test_the_searches_of_compact_leave_out_what_lists_do(opened):
    tools = opened("compact")
    paths, texts = searched(tools, "compact")
    assert paths == {"src/a.yml"}
    for text in texts:
        assert "Left out (hidden, dependencies and builds): .eggs, .env.yml, .github" in text
    everything, _ = searched(tools, "compact", include_hidden=True, include_noise=True)
    assert everything == SHOWN | NOISY - {".git/x.yml"}


@pytest.mark.parametrize("name", ["filesystem"])
def test_every_directory_is_searched_and_dot_entries_when_asked_for(opened, name):
    tools = opened(name)
    paths, texts = searched(tools, name)
    assert paths == {"src/a.yml"} | PLAIN_NOISE
    for text in texts:
        assert ": .eggs, .env.yml, .github, .hg, .mypy_cache and 6 more." in text
    everything, texts = searched(tools, name, include_hidden=True)
    assert everything == SHOWN | NOISY - {".git/x.yml"}
    assert not any("Left out" in text for text in texts)


def test_ls_lists_what_rm_can_remove(opened):
    tools = opened("filesystem")
    out = tools["ls"].call({})
    names = {entry["name"] for entry in out.data["entries"]}
    assert names == {path.partition("/")[0] for path in PLAIN_NOISE} | {"src"}
    assert out.text.endswith("and 6 more. To see one, give its path. Or set `include_hidden`.")
    names |= {entry["name"] for entry in tools["ls"].call({"include_hidden": True}).data["entries"]}
    assert {".github", ".venv", ".env.yml"} <= names
    assert ".git" not in names


@pytest.mark.parametrize("name", ["workspace", "compact", "filesystem"])
def test_a_path_that_is_left_out_means_whatever_is_allowed(opened, name):
    tools = opened(name, allowed_paths=["src/**", "build/x.yml", ".github"])
    paths, texts = searched(tools, name)
    more = {"workspace": [".github/ci.yml"], "filesystem": ["build/x.yml"]}
    assert paths == {"src/a.yml", *more.get(name, ())}
    assert not any(".env.yml" in text or ".hg" in text for text in texts)
    glob, *_ = TOOLS[name]
    assert tools[glob].call({"pattern": "*", "path": ".hg"}).code == "PATH_DENIED"
    if "ls" in tools:
        names = {entry["name"] for entry in tools["ls"].call({}).data["entries"]}
        assert names == {"src", ".github" if name == "workspace" else "build"}


@pytest.mark.parametrize(
    ("rule", "seen"),
    [
        ("a/b/*.py", {"a/b/x.py"}),
        ("**/y.py", {"a/b/c/y.py"}),
        ("{a/b/c,d}/**", {"a/b/c/y.py", "d/z.py"}),
        ("*/z.py", {"d/z.py"}),
        ("$ROOT/d", {"d/z.py"}),
        ("d/", {"d/z.py"}),
        ("e/**", set()),
    ],
)
@pytest.mark.parametrize("walk", [False, True])
def test_a_walk_goes_down_to_what_is_allowed(root, rule, seen, walk):

    for path in ("a/b/x.py", "a/b/c/y.py", "d/z.py", "top.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("need\n")
    policy = Policy(allowed_paths=[rule.replace("$ROOT", str(root))])
    workspace = Workspace(root, policy=policy)
    workspace.files = LocalFiles(root, policy, walk=walk)
    tools = toolset("workspace").bind(workspace)
    for call in (tools["glob"].call({"pattern": "*.py"}), tools["grep"].call({"pattern": "need"})):
        assert found(call, tools["glob"]) == seen, call.text
    assert tools["read"].call({"file_path": "top.py"}).code == "PATH_DENIED"
    listed = {entry["name"] for entry in tools["ls"].call({}).data["entries"]}
    assert {path.partition("/")[0] for path in seen} <= listed
    assert "top.py" not in listed


@pytest.mark.parametrize("name", ["workspace", "compact", "filesystem"])
def test_absolute_patterns_and_those_with_a_dot_keep_their_anchor(root, name):
    for path in ("top.py", "sub/s.py", "sub/deep/d.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("need\n")
    tools = toolset(name).bind(Workspace(root))
    glob, grep, _ = TOOLS[name]
    for pattern, path, paths in [
        ("./*.py", ".", {"top.py"}),
        (f"{root}/*.py", ".", {"top.py"}),
        (f"{root}/sub/*.py", ".", {"sub/s.py"}),
        (f"{root}/sub/*.py", "sub", {"sub/s.py"}),
        (f"{root}/sub/**/*.py", ".", {"sub/s.py", "sub/deep/d.py"}),
        ("*.py", "sub", {"sub/s.py", "sub/deep/d.py"}),
    ]:
        listed = tools[glob].call({"pattern": pattern, "path": path})
        matched = tools[grep].call({"pattern": "need", "path": path}, include=pattern)
        assert found(listed, tools[glob]) == found(matched, tools[grep]) == paths, pattern
