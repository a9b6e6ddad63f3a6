"""Configuration files and variables: both documents' forms, and layers."""

import json
import os
import subprocess
import sys

import pytest

from fsagent_tools import Effect, Policy, Workspace, errors
from fsagent_tools.workspace.config import check_file, load, standard_files

COMPACT = """
tools:
  modules:
    filesystem:
      constraints:
        allowed_actions: [read, write, edit, glob, grep] # restrict subset
        allowed_paths:
          - "{{workdir}}/**"
          - "/tmp/**"
        denied_paths:
          - "**/.env*"
          - "**/node_modules/**"
        max_file_size: 10485760 # 10 MB
        readonly: false
"""
FILESYSTEM = """
modules:
- module: filesystem
  actions: [read, write, edit, insert, ls, grep, find, mkdir, rm]
  constraints:
    paths: ["{{workspace}}"]
    max_file_size: "50MB"
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the system's and the user's files would be."""
    for name, variable in (("system", "XDG_CONFIG_DIRS"), ("user", "XDG_CONFIG_HOME")):
        (tmp_path / name / "fsagent").mkdir(parents=True)
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path


def put(home, **texts):
    for name, text in texts.items():
        (home / name / "fsagent/config.yaml").write_text(text)


def loaded(home, environ=None, explicit=None):
    with pytest.MonkeyPatch.context() as variables:
        for name in [name for name in os.environ if name.startswith("FSAGENT_")]:
            variables.delenv(name)
        for name, value in (environ or {}).items():
            variables.setenv(name, value)
        return load(explicit)


def test_both_documented_forms_become_one_policy(home):
    put(home, user=COMPACT)
    assert loaded(home).policy == Policy(
        allowed_actions=["read", "write", "edit", "glob", "grep"],
        allowed_paths=["{{workdir}}/**", "/tmp/**"],
        denied_paths=["**/.env*", "**/node_modules/**"],
        max_file_size=10485760,
    )
    put(home, user=FILESYSTEM)
    assert loaded(home).policy == Policy(
        allowed_actions=["read", "write", "edit", "insert", "ls", "grep", "find", "mkdir", "rm"],
        allowed_paths=["."],
        max_file_size="50MB",
    )


def test_nothing_configured_is_the_default_policy(home):
    assert loaded(home).policy == Policy()
    assert loaded(home).toolset == "lines"


def test_later_layers_win_and_every_value_knows_where_it_is_from(home):
    put(
        home, system="max_file_size: 1MB\nreadonly: true\ntoolset: line_ids", user="readonly: false"
    )
    (home / "mine.yaml").write_text("max_file_size: 3MB")
    configuration = loaded(home, {"FSAGENT_MAX_FILE_SIZE": "2MB", "FSAGENT_DENIED_PATHS": '["x"]'})
    assert configuration.values["max_file_size"] == "2MB"
    configuration = loaded(home, {"FSAGENT_MAX_FILE_SIZE": "2MB"}, home / "mine.yaml")
    assert configuration.policy.max_file_size == 3 << 20
    assert configuration.policy.readonly is False
    assert configuration.toolset == "line_ids"
    assert configuration.origins == {
        "max_file_size": f"{home}/mine.yaml",
        "readonly": f"{home}/user/fsagent/config.yaml",
        "toolset": f"{home}/system/fsagent/config.yaml",
    }


def test_groups_and_session_options_come_from_files_and_variables(home):
    put(
        home,
        user="process: {sandbox: read-only, limits: {cpu_seconds: 5}}\n"
        "search: {provider: searxng, base_url: 'http://localhost:8080'}\n"
        "servers: {python: [ty]}\nline_ids: words\nlint: report",
    )
    configuration = loaded(home, {"FSAGENT_ALLOW_HOSTS": '["localhost:8000"]'})
    workspace = Workspace(home, **configuration.options, durable=True)
    assert workspace.policy.process.sandbox == "read-only"
    assert workspace.policy.process.limits.cpu_seconds == 5
    assert workspace.policy.allow_hosts == ("localhost:8000",)
    assert workspace.services.search.provider == "searxng"
    assert workspace.services.server_settings == {"python": ["ty"]}
    assert workspace.services.lint == "report"
    workspace.close()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("reodonly: true", "reodonly: there is no such key. There are: readonly, "),
        ("readonly: perhaps", "readonly: "),
        ("allowed_paths: src", "allowed_paths: "),
        ("allowed_paths: ['']", "allowed_paths is"),
        ("denied_paths: ['[']", "denied_paths: "),
        ("denied_paths: ['{{nope}}/x']", "denied_paths: unknown template {{nope}}"),
        ("max_file_size: big", "max_file_size is"),
        ("process: {sandbx: x}", "process.sandbx: there is no such key"),
        ("process: {limits: {cpu: 1}}", "process.limits.cpu: there is no such key"),
        ("process: {sandbox: maybe}", "process.sandbox: "),
        ("search: {base_url: 'http://x'}", "search.provider is missing"),
        ("a: 1\na: 2", "line 2: duplicate key 'a'"),
        ("a: &x [1]\nb: *x", "line 2: aliases are not allowed"),
        ("1: x", "line 1: the key 1 is not text"),
        ("- x", "the file has to be a mapping"),
        ("a: [", "line 1: "),
        ("!!python/object/apply:os.system [x]", "line 1: "),
        ("[" * 3000, ""),
        ("tools: {modules: {filesystm: {}}}", "tools.modules.filesystm: unknown module"),
        ("modules: [{module: a}, {module: a}]", "modules[1].module: names a module, each only"),
        (
            "modules: [{module: filesystem, actions: [read, bogus]}]",
            "allowed_actions: there is no 'bogus'",
        ),
        (
            "tools: {modules: {filesystem: {constraints: {allowed_actions: [wirte]}}}}",
            "allowed_actions: there is no 'wirte'",
        ),
        ("modules: [{constraints: {}}]", "modules[0].module: names a module"),
        ("denied_paths: [" + "a, " * 1001 + "]", "line 1: more than 1,000 keys or entries"),
        ("a: 1\n" * 60_000, "larger than 262,144 bytes"),
        ("modules: [{module: filesystem, constraints: {x: 1}}]", "modules[0].constraints.x: "),
        (
            "readonly: true\nmodules: [{module: filesystem, constraints: {readonly: true}}]",
            "readonly: is set twice",
        ),
        (
            "modules: [{module: filesystem, actions: [], constraints: {allowed_actions: []}}]",
            "modules[0].actions: is set twice",
        ),
    ],
)  # fmt: skip
def test_an_error_names_the_file_the_key_and_the_reason(text, told, home):
    (home / "user.yaml").write_text(text)
    with pytest.raises(errors.ConfigInvalid) as refused:
        check_file(home / "user.yaml")
    assert str(refused.value).startswith(f"{home / 'user.yaml'}: {told}"), refused.value


@pytest.mark.parametrize(
    ("variable", "value"),
    [("READONLY", "perhaps"), ("DENIED_PATHS", "[x"), ("DENIED_PATHS", '"x"'), ("LINT", "x")],
)
def test_a_wrong_variable_is_named(variable, value, home):
    with pytest.raises(errors.ConfigInvalid, match=f"FSAGENT_{variable}: "):
        loaded(home, {f"FSAGENT_{variable}": value})


@pytest.mark.parametrize(
    ("variable", "form"),
    [
        ("ALLOWED_ACTIONS", 'a list in JSON: ["a", "b"].'),
        ("DENIED_PATHS", 'a list in JSON: ["a", "b"].'),
        ("PROCESS", 'a group in JSON: {"key": 1}.'),
    ],
)
def test_a_variable_that_is_not_json_is_told_the_form(variable, form, home):
    with pytest.raises(errors.ConfigInvalid) as refused:
        loaded(home, {f"FSAGENT_{variable}": "read"})
    assert str(refused.value) == f"FSAGENT_{variable}: should be {form}"


def test_an_explicit_file_must_exist(home):
    with pytest.raises(errors.ConfigInvalid, match=r"none\.yaml: cannot be read"):
        loaded(home, explicit=home / "none.yaml")


@pytest.mark.parametrize(
    ("variables", "folders"),
    [
        ({}, ["/etc/xdg", "/home/me/.config"]),
        ({"XDG_CONFIG_HOME": "/mine", "XDG_CONFIG_DIRS": "/a:/b"}, ["/a", "/mine"]),
        (
            {"XDG_CONFIG_HOME": "not/absolute"},
            ["/etc/xdg", "/home/me/.config"],
        ),
        ({"HOME": "not/absolute"}, ["/etc/xdg"]),
    ],
)
def test_the_standard_files_are_where_xdg_has_them(variables, folders, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    assert [str(p) for p in standard_files()] == [f"{f}/fsagent/config.yaml" for f in folders]


def test_tools_are_used_without_any_configuration_library():
    script = (
        "import sys; from fsagent_tools import Workspace, toolset; "
        "toolset('filesystem').bind(Workspace('.'))['ls'].call({}); "
        "print({'yaml'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_values_are_json_able_for_the_command_line(home):
    put(home, user=COMPACT)
    json.dumps(dict(loaded(home).values))


def test_further_modules_and_lint_of_the_workspace_module_are_taken(home):
    text = "modules: [{module: filesystem, actions: [read]}, {module: browser, x: 1}]"
    put(home, user=text)
    assert loaded(home).values == {"allowed_actions": ("read",)}
    put(home, user="tools: {modules: {workspace: {lint: true}, browser: {}}}")
    assert loaded(home).values == {"lint": "report"}
    put(home, user="modules: [{module: workspace, lint: false}]")
    assert loaded(home).values == {"lint": "off"}


@pytest.mark.parametrize("name", ["FSAGENT_READ_ONLY", "FSAGENT_NOSUCH", "FSAGENT_"])
def test_a_misspelt_variable_is_refused_not_ignored(name, home):
    with pytest.raises(errors.ConfigInvalid, match=f"{name}: there is no such variable"):
        loaded(home, {name: "1"})


def test_a_misspelt_variable_is_told_its_neighbour(home):
    with pytest.raises(errors.ConfigInvalid, match="Did you mean FSAGENT_READONLY"):
        loaded(home, {"FSAGENT_READ_ONLY": "1"})


def test_a_refusal_shows_allowed_paths_as_they_were_written(home, monkeypatch):
    monkeypatch.setenv("SECRET", "hunter2")
    policy = Policy(allowed_paths=["src/{{env.SECRET}}/**"])
    with pytest.raises(errors.PathDenied) as refused:
        policy.check_path("a.txt", "/x/a.txt", Effect.READ)
    assert "src/{{env.SECRET}}/**" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_an_endless_file_is_refused_unread(home):
    with open(home / "mine.yaml", "wb") as file:
        file.truncate(100 << 30)
    with pytest.raises(errors.ConfigInvalid, match="larger than 262,144 bytes"):
        loaded(home, explicit=home / "mine.yaml")


def test_a_file_of_the_project_counts_only_if_the_host_names_it(home, tmp_path, monkeypatch):
    put(home, user="max_file_size: 2MB")
    (home / ".fsagent.yaml").write_text("max_file_size: 3MB")
    monkeypatch.chdir(home)
    assert loaded(home).policy.max_file_size == 2 << 20
    assert loaded(home, explicit=".fsagent.yaml").policy.max_file_size == 3 << 20
