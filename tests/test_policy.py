"""What a policy allows, denies, refuses to be, and says about it."""

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import pytest

from fsagent_tools import TOOLSETS, Effect, MemoryFiles, Policy, Workspace, errors, toolset
from fsagent_tools.actions import ALL
from fsagent_tools.effects import BY_NAME
from fsagent_tools.policy import ProcessPolicy
from fsagent_tools.policy.protected import PROTECTED

READ, DELETE = Effect.READ, Effect.DELETE


def test_every_action_and_tool_is_known_by_name_with_its_effect():
    known = BY_NAME
    assert (known["rm"], known["read_file"], known["stat"]) == (DELETE, READ, READ)
    assert {*known} >= {action.name for action in ALL}
    assert {*known} >= {e.shown_name for tools in TOOLSETS.values() for e in tools.entries}


def test_a_policy_knows_every_action_before_any_tool_was_made():
    code = "from fsagent_tools.policy import Policy; print(Policy().explain('file_stat', 'x'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("allowed by default")


def test_importing_the_package_imports_no_action():
    code = "import fsagent_tools.policy, sys; print(*filter({!r}.__eq__, sys.modules))"
    code = code.format("fsagent_tools.actions")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()


@pytest.mark.parametrize(
    "wrong",
    [
        {"denied_paths": ["["]},
        {"denied_paths": [""]},
        {"allowed_paths": [""]},
        {"allowed_paths": "src"},
        {"allowed_paths": [1]},
        {"allowed_paths": ["../x"]},
        {"allowed_paths": ["{{workdir}}/../x"]},
        {"allowed_paths": ["{{nothing}}/x"]},
        {"allowed_paths": ["{{env.FSAGENT_NOT_SET}}/x"]},
        {"allowed_paths": ["x/{{workdir}}"]},
        {"allowed_paths": ["{{workdir}}x"]},
        {"write_denied": ["{a"]},
        {"readonly": "no"},
        {"read_before_edit": "many"},
        {"process": {"network": True}},
        {"max_file_size": "much"},
        {"within": [["["]]},
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(wrong):
    with pytest.raises(errors.ConfigInvalid, match=next(iter(wrong)).replace("within", "allowed")):
        Policy(**wrong)


@pytest.mark.parametrize("wrong", [{"network": "no"}, {"limits": {"memory": "1GB"}}])
def test_a_value_of_the_wrong_type_for_commands_is_refused(wrong):
    with pytest.raises(errors.ConfigInvalid, match=f"{next(iter(wrong))} is of type"):
        ProcessPolicy(**wrong)


def test_an_allowed_action_that_does_not_exist_is_refused_when_tools_are_made(tmp_path):
    with pytest.raises(errors.ConfigInvalid, match="frobnicate"):
        toolset("filesystem").bind(
            Workspace(tmp_path, policy=Policy(allowed_actions=("read", "frobnicate")))
        )


def test_actions_are_allowed_by_their_own_name_or_by_the_tools(tmp_path):
    tools = toolset("filesystem").bind(
        Workspace(tmp_path, policy=Policy(allowed_actions=["find", "stat"]))
    )
    ok = {
        name
        for name, tool in tools.items()
        if tool.call({"path": ".", "pattern": "x"} if name == "find" else {"path": "."}).ok
    }
    assert ok == {"find", "file_stat"}


def test_templates_are_rendered_per_string(monkeypatch):
    monkeypatch.setenv("MORE", "/srv/more")
    monkeypatch.setenv("HOME", "/home/me")
    policy = Policy(
        allowed_paths=["{{workdir}}/**", "{{ workspace }}", "{{workspace}}/src"],
        denied_paths=["{{home}}/.aws", "{{env.MORE}}/x"],
    )
    assert policy.allowed_paths == (".", ".", "src")
    assert policy.denied_paths == ("/home/me/.aws", "/srv/more/x")


@pytest.mark.parametrize("spelling", [".git", ".git/", ".git/**", "**/.git/**", "./.git/**"])
def test_every_natural_spelling_of_a_rule_denies(spelling):
    decision = Policy(denied_paths=[spelling]).explain("read", ".git/config")
    assert not decision.allowed
    assert decision.rule.startswith("denied_paths: ")


def test_a_denied_name_holds_at_any_depth():
    policy = Policy(denied_paths=["*.pem", ".env"])
    assert not policy.explain("read", "a/b/k.pem").allowed
    assert not policy.explain("read", "a/.env").allowed
    assert policy.explain("read", "a/env").allowed


@pytest.mark.parametrize(
    ("rule", "spelled"),
    [
        (".env ", "'.env'"),
        (" .env", "'.env'"),
        ('".env"', "'.env'"),
        ("!.env", "'.env'"),
        (".env,secrets", "['.env', 'secrets']"),
        (".env\nsecrets", "['.env', 'secrets']"),
        ("sub/./.env", "'sub/.env'"),
        ("sub//.env", "'sub/.env'"),
        ("sub/.", "'sub'"),
        ("//.env", "'/.env'"),
        ("././.env", "'./.env'"),
        (r"secrets\**", "'secrets/**'"),
        (r"secrets\*", "'secrets/*'"),
        (r"sub\.env", "'sub/.env'"),
        ("~/.ssh", "'{{home}}/.ssh'"),
        ("$HOME/.ssh", "'{{home}}/.ssh'"),
        ("app/[id", r"\["),
    ],
)
@pytest.mark.parametrize("name", ["denied_paths", "write_denied", "allowed_paths"])
def test_a_rule_that_can_never_match_is_refused_with_the_spelling_that_does(name, rule, spelled):
    with pytest.raises(errors.ConfigInvalid, match=name) as refused:
        Policy(**{name: [rule]})
    assert spelled in str(refused.value)


@pytest.mark.parametrize(
    ("rule", "path", "denied"),
    [
        ("/secrets/**", "secrets/a.txt", True),
        ("/secrets", "sub/secrets/a.txt", False),
        ("/.env", ".env", True),
        ("/.env", "sub/.env", False),
        (".", "a.txt", True),
        ("./", "sub/a.txt", True),
        ("app/[id]/key.txt", "app/[id]/key.txt", True),
        ("app/[id]/**", "app/[id]/deep/key.txt", True),
        ("app/[id]", "app/i/key.txt", True),
        ("[...slug]", "app/[...slug]/page.tsx", True),
        ("a{b}.env", "sub/a{b}.env", True),
        ("{a,b}", "{a,b}/x", True),
        ("{.env,sub/key}", "deep/.env", True),
        (r"app/\[id\]", "app/i/key.txt", False),
        (r"a\,b", "a,b", True),
        (r"blank\ ", "blank ", True),
    ],
)
@pytest.mark.parametrize("name", ["denied_paths", "write_denied"])
def test_a_rule_denies_what_is_called_so_and_a_leading_slash_is_the_root(name, rule, path, denied):
    decision = Policy(**{name: [rule]}).explain("write", path)
    assert decision.allowed is not denied
    if denied:
        assert decision.rule == f"{name}: {rule}"


def test_what_is_called_as_a_rule_says_is_allowed():
    policy = Policy(allowed_paths=["app/[id]/**"])
    assert policy.explain("read", "app/[id]/page.tsx").allowed
    assert not policy.explain("read", "app/[x]/page.tsx").allowed


@pytest.mark.parametrize("rule", ["/secrets/**", "/.env", "app/[id]/**"])
def test_tools_and_commands_see_nothing_of_what_is_denied_so(tmp_path, rule):
    for name in (".env", "secrets/a.txt", "app/[id]/a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("secret\n")
    path = {"/.env": ".env"}.get(rule, rule.strip("/*") + "/a.txt")
    workspace = Workspace(tmp_path, policy=Policy(denied_paths=[rule]))
    tools = toolset("workspace").bind(workspace)
    assert tools["read"].call({"file_path": path}).code == "PATH_DENIED"
    assert path not in tools["grep"].call({"pattern": "secret"}).text
    ran = tools["bash"].call({"command": f"cat '{path}'"})
    assert "secret\n" not in ran.text or "bubblewrap" not in ran.data["sandbox"]
    workspace.close()


def test_an_explanation_says_that_a_rule_holds_at_the_root_alone():
    for rule in ("secrets/**", "/secrets/**", "./secrets/**"):
        policy = Policy(denied_paths=[rule])
        assert not policy.explain("read", "secrets/b.txt").allowed
        decision = policy.explain("read", "shop/secrets/b.txt")
        assert decision.allowed
        assert f"{rule!r} of denied_paths holds at the root alone" in decision.reason
        assert "'**/secrets/**' at any depth" in decision.reason
    recipe = Policy(denied_paths=[".env*", "secrets/"])
    for path in ("shop/.env.local", ".env", "secrets/a", "shop/secrets/b.txt"):
        assert not recipe.explain("read", path).allowed


def test_what_lies_above_the_root_does_not_matter(tmp_path):
    root = tmp_path / "build" / "project"
    root.mkdir(parents=True)
    (root / "a.txt").write_text("x")
    tools = toolset("filesystem").bind(Workspace(root, policy=Policy(denied_paths=["build"])))
    assert tools["read"].call({"path": "a.txt"}).ok


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit", ".git/config", "sub/.git/config", ".GIT/Config", ".bashrc",
        ".git/modules/a/b/hooks/x", ".zshrc", ".mcp.json", ".vscode/tasks.json",
        ".claude/settings.json", ".fsagent.yaml", ".ssh/authorized_keys", ".bare/config",
    ],
)  # fmt: skip
def test_what_makes_other_programs_run_is_read_and_never_written(path, tmp_path):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("kept")
    tools = toolset("filesystem").bind(Workspace(tmp_path))
    assert tools["read"].call({"path": path}).ok
    top = path.split("/")[0]
    for name, sent in {
        "write": {"path": path, "content": "x"},
        "rm": {"path": top, "recursive": True},
        "mv": {"source": top, "destination": "moved"},
    }.items():
        outcome = tools[name].call(sent)
        assert outcome.code == "PATH_DENIED", (name, outcome)
    assert (tmp_path / path).read_text() == "kept"
    (tmp_path / "link").symlink_to(path)
    assert tools["write"].call({"path": "link", "content": "x"}).code == "PATH_DENIED"
    lifted = toolset("filesystem").bind(Workspace(tmp_path, policy=Policy(write_denied=())))
    assert lifted["write"].call({"path": path, "content": "x"}).ok


BARE = {
    "HEAD": "ref: refs/heads/main\n",
    "config": '[core]\nbare = false\nworktree = ..\nfsmonitor = "touch PWN; false"\n',
    "objects/x": "",
    "refs/x": "",
}


@pytest.mark.parametrize("order", [*permutations(BARE)], ids=" ".join)
def test_no_directory_becomes_a_repository_by_file_tools(order, tmp_path):
    write = toolset("workspace").bind(Workspace(tmp_path))["write"].call
    codes = [write({"file_path": f"bare/{name}", "content": BARE[name]}).code for name in order]
    assert codes == ["OK", "OK", "OK", "PATH_DENIED"]
    subprocess.run(["git", "status"], cwd=tmp_path / "bare", capture_output=True, check=False)
    assert not [*tmp_path.rglob("PWN")]


def test_no_directory_becomes_a_repository_by_calls_side_by_side(tmp_path):
    write = toolset("workspace").bind(Workspace(tmp_path))["write"].call
    for number in range(20):
        calls = [{"file_path": f"{number}/{name}", "content": BARE[name]} for name in BARE]
        with ThreadPoolExecutor(len(calls)) as threads:
            codes = [outcome.code for outcome in threads.map(write, calls)]
        assert sorted(codes) == ["OK", "OK", "OK", "PATH_DENIED"]


def test_no_directory_becomes_a_repository_by_two_processes(tmp_path, monkeypatch):
    for name in ("HEAD", "config"):
        (tmp_path / name).write_text(BARE[name])
    flock, other = fcntl.flock, os.open(tmp_path, os.O_RDONLY)
    flock(other, fcntl.LOCK_EX)

    def lock(fd, how):
        try:
            flock(fd, how)
        except BlockingIOError:  # the other one makes its part meanwhile
            (tmp_path / "objects").mkdir()
            os.close(other)
            raise

    monkeypatch.setattr(fcntl, "flock", lock)
    mkdir = toolset("filesystem").bind(Workspace(tmp_path))["mkdir"].call
    assert mkdir({"path": "refs"}).code == "PATH_DENIED"


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("write", {"path": "x.git/config", "content": ""}),
        ("edit", {"path": "x.git/config", "old_string": "=", "new_string": "=="}),
        ("cp", {"source": "mine", "destination": "x.git/hooks/post-checkout"}),
        ("mv", {"source": "mine", "destination": "x.git/Config.worktree"}),
        ("mv", {"source": "y/refs", "destination": "y.git/refs"}),
        ("mkdir", {"path": "y.git/refs"}),
        ("mkdir", {"path": "y.git/refs/heads"}),
    ],
)
@pytest.mark.parametrize("where", ["disk", "memory"])
def test_a_bare_repository_is_set_up_by_no_file_tool(name, sent, where, tmp_path):
    texts = {f"x.git/{one}": text for one, text in BARE.items()}
    texts |= {f"y.git/{one}": text for one, text in BARE.items() if one != "refs/x"}
    texts |= {"mine": "#!/bin/sh\n", "y/refs/x": "", "x.git/hooks/update": ""}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    place = {"root": tmp_path} if where == "disk" else {"files": MemoryFiles(texts)}
    tools = toolset("filesystem").bind(Workspace(**place))
    assert tools[name].call(sent).code == "PATH_DENIED"
    assert tools["write"].call({"path": "x.git/description", "content": ""}).ok
    lifted = toolset("filesystem").bind(Workspace(**place, policy=Policy(write_denied=())))
    assert lifted[name].call(sent).ok


def test_the_list_of_protected_files_can_be_extended():
    policy = Policy(write_denied=(*PROTECTED, "Makefile"))
    assert not policy.explain("write", "sub/makefile").allowed
    assert policy.explain("read", "Makefile").allowed


def test_decisions_are_explained():
    policy = Policy(
        allowed_actions=["read", "write"], allowed_paths=["src"], denied_paths=["**/.env*"]
    )
    told = {
        ("read", "src/a.py"): (True, "allowed_paths: src"),
        ("read", "docs/a.md"): (False, "allowed_paths"),
        ("read", "src/.env"): (False, "denied_paths: **/.env*"),
        ("rm", "src/a.py"): (False, "allowed_actions"),
        ("write", "src/.git/config"): (
            False,
            "write_denied: **/.git",
        ),
    }
    for asked, (allowed, rule) in told.items():
        decision = policy.explain(*asked)
        assert (decision.allowed, decision.rule) == (allowed, rule), decision
    assert Policy(readonly=True).explain("mkdir", "x").rule == "readonly"
    assert str(Policy().explain("mkdir", "x")).startswith("allowed by default: ")
    with pytest.raises(errors.ConfigInvalid, match="frob"):
        policy.explain("frob", "x")


CALLS = {
    "read": lambda p: {"path": p},
    "write": lambda p: {"path": p, "content": "n" * 60},
    "ls": lambda p: {"path": p},
    "grep": lambda p: {"path": p, "pattern": "x"},
    "find": lambda p: {"path": p, "pattern": "*"},
    "mv": lambda p: {"source": p, "destination": "moved.txt", "overwrite": True},
    "mv to": lambda p: {"source": "own.txt", "destination": p, "overwrite": True},
    "cp": lambda p: {"source": p, "destination": "copied.txt", "overwrite": True},
    "cp to": lambda p: {"source": "own.txt", "destination": p, "overwrite": True},
    "rm": lambda p: {"path": p, "recursive": True},
    "mkdir": lambda p: {"path": p},
    "file_stat": lambda p: {"path": p},
}
DIRECTORIES = {"ls", "find"}
LOOKS = {"read", "ls", "grep", "find", "file_stat"}
ON_LINKS = {"mv", "rm", "file_stat", "mv to", "cp to"}  # the link itself, which is inside


def snapshot(top: Path):
    return {
        str(p): p.is_file() and p.read_bytes()
        for p in sorted(top.rglob("*"))
        if ".ai" not in p.parts
    }


@pytest.mark.parametrize(
    "place", ["inside", "outside", "link out", "denied", "other root", "readonly", "too large"]
)
@pytest.mark.parametrize("call", CALLS)
def test_constraints_hold_for_every_tool_and_both_ends(call, place, tmp_path):
    root, out, more = tmp_path / "root", tmp_path / "out", tmp_path / "more"
    for folder in (root, root / "secret", out, more):
        (folder / "d").mkdir(parents=True)
        (folder / "f.txt").write_text("x" * 40)
    (root / "own.txt").write_text("o" * 45)
    (root / "file_out").symlink_to(out / "f.txt")
    (root / "dir_out").symlink_to(out / "d")
    name = "d" if call in DIRECTORIES else "new" if call == "mkdir" else "f.txt"
    path = {
        "outside": f"{out}/{name}",
        "link out": "dir_out/x" if call == "mkdir" else "dir_out" if name == "d" else "file_out",
        "denied": f"secret/{name}",
        "other root": f"{more}/{name}",
    }.get(place, name)
    policy = Policy(
        allowed_paths=["{{workdir}}/**", f"{more}/**"],
        denied_paths=["secret/**"],
        readonly=place == "readonly",
        max_file_size=30 if place == "too large" else "50MB",
    )
    before = snapshot(tmp_path)
    outcome = (
        toolset("filesystem")
        .bind(Workspace(root, policy=policy))[call.split()[0]]
        .call(CALLS[call](path))
    )
    sizeless = {"ls", "find", "rm", "mkdir", "file_stat", "grep"}
    expected = {
        "inside": "OK",
        "other root": "OK",
        "outside": "PATH_OUTSIDE_WORKSPACE",
        "link out": "OK" if call in ON_LINKS else "PATH_OUTSIDE_WORKSPACE",
        "denied": "PATH_DENIED",
        "readonly": "OK" if call in LOOKS else "READONLY",
        "too large": "OK" if call in sizeless else "FILE_TOO_LARGE",
    }[place]
    assert (
        outcome.code in ("FILE_TOO_LARGE", "OK")
        if (call, place) == ("grep", "too large")
        else outcome.code == expected
    ), outcome
    if not outcome.ok:
        assert snapshot(tmp_path) == before
    assert (out / "f.txt").read_text() == "x" * 40


def test_a_brace_pattern_may_hold_paths_of_both_kinds():
    policy = Policy(denied_paths=["{/srv/x,private}"])
    assert not policy.explain("read", "/srv/x/a").allowed
    assert not policy.explain("read", "private/a").allowed


def test_the_gate_of_edits_goes_by_size_and_can_be_turned_off():
    Policy().check_seen("a", 500)
    Policy(read_before_edit=None).check_seen("a", 10**9)
    with pytest.raises(errors.NotRead, match="above 500 bytes"):
        Policy().check_seen("a", 501)


def test_a_readonly_policy_refuses_the_action_itself_by_its_shown_name():
    policy = Policy(readonly=True)
    policy.check_action("read", READ)
    for effect in (Effect.WRITE, DELETE):
        with pytest.raises(errors.ReadOnly, match="'save' changes files"):
            policy.check_action("write", effect, shown="save")


def test_in_a_readonly_workspace_nobody_is_asked_to_approve(tmp_path):
    asked = []
    workspace = Workspace(tmp_path, policy=Policy(readonly=True), approve=asked.append)
    out = toolset("workspace").bind(workspace)["write"].call({"file_path": "a", "content": "b"})
    assert (out.code, asked) == ("READONLY", [])


def test_lists_of_a_policy_may_be_any_iterable_of_strings():
    policy = Policy(
        allowed_paths=(f"{name}/**" for name in ("src", "docs")), denied_paths={"src/.env"}
    )
    assert policy.explain("read", "docs/a.md").allowed
    assert not policy.explain("read", "src/.env").allowed


def test_a_policy_for_literal_paths_beneath_the_root():
    policy = Policy(allowed_paths=["docs/**", "a[b]"]).beneath(["a[b]", "docs/x"])
    allowed = {path: policy.explain("read", path).allowed for path in ("a[b]/c", "ab/c", "ab")}
    assert allowed == {"a[b]/c": True, "ab/c": False, "ab": False}
    assert policy.explain("read", "docs/x/y").allowed
    assert not policy.explain("read", "docs/y").allowed
    for name in ("a[b]", "!a", " a, b ", '"a"', r"a\b", "~", "a\nb"):
        assert Policy().beneath([name]).explain("read", f"{name}/c").allowed
    assert not Policy().beneath(()).explain("read", "a").allowed


def test_the_table_of_effects_has_every_action_and_tool():
    entries = [entry for kit in TOOLSETS.values() for entry in kit.entries]
    rows = [row for entry in entries for row in (entry, *entry.commands.values())]
    every = {row.shown_name: row.action.effect for row in rows}
    assert {**every, **{action.name: action.effect for action in ALL}} == BY_NAME
