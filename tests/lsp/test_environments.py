"""Python checkers see the packages and the version of the project, not ours, and run none of it."""

import base64
import hashlib
import os
import sys
import time
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.lsp.environment import find_environment, minimal_python
from fsagent_tools.lsp.sources import import_roots
from tests.conftest import PATIENCE

from .conftest import children

BIN = Path(sys.executable).parent
CHECKERS = {"ty": "ty", "basedpyright": "basedpyright-langserver", "pyrefly": "pyrefly"}
USER = "import acme\nx: int = acme.f(1)\n"
SIBLING = "from p.other import Y\nx: int = Y\n"
UV = '[tool.uv.workspace]\nmembers = ["packages/*"]\n'


@pytest.fixture(params=CHECKERS)
def checker(request, pool, tmp_path):
    """A function: file, text -> the errors of one checker."""
    if not (BIN / CHECKERS[request.param]).exists():
        pytest.skip(f"{request.param} is not installed")
    servers = pool({"python": (request.param,)})

    def errors(name, text):
        file = put(tmp_path / name, text)
        checked = servers.check(file.resolve(), text, PATIENCE)
        assert checked.those("silent", "failed") == []
        return [p.line for p in checked.problems if p.severity == "error"]

    errors.servers = servers
    return errors


def put(file, text=""):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def environment(folder, version="3.11"):
    """An environment with the typed package `acme`, whose interpreter must not be run."""
    put(folder / "pyvenv.cfg", f"home = /usr/bin\nversion = {version}.2\n")
    packages = folder / f"lib/python{version}/site-packages"
    put(packages / "acme/__init__.py", "def f(a: int) -> str: ...\n")
    put(packages / "acme/py.typed")
    trap = put(folder / "bin/python", f"#!/bin/sh\ntouch {folder}/sprung\nexit 1\n")
    trap.chmod(0o755)
    return folder


LAYOUTS = {
    "of any name": ("pyproject.toml", "my-env", "a.py"),
    "beside": ("pyproject.toml", ".venv", "a.py"),
    "venv": ("pyproject.toml", "venv", "a.py"),
    "workspace": ("packages/p/pyproject.toml", ".venv", "packages/p/p/a.py"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_environment_of_the_project_is_seen(layout, checker, tmp_path):
    marker, folder, file = LAYOUTS[layout]
    put(tmp_path / marker, '[project]\nname = "p"\n')
    put(tmp_path / "pyproject.toml", UV)
    made = environment(tmp_path / folder)
    assert checker(file, USER) == [2]
    assert not (made / "sprung").exists()


BESIDE = {
    "a script": ("scripts/util.py", "scripts/run.py", "util"),
    "a test": ("tests/programs.py", "tests/test_a.py", "programs"),
    "a test below conftest.py": ("tests/programs.py", "tests/deep/test_a.py", "programs"),
    "Django": ("site/app/o.py", "site/app/views.py", "app.o"),
}


@pytest.mark.parametrize("layout", BESIDE)
def test_what_python_finds_beside_a_file_is_found(layout, checker, tmp_path):
    module, file, name = BESIDE[layout]
    put(tmp_path / "pyproject.toml", "[project]\nname = 'p'\n")
    put(tmp_path / module, "Y = 's'\n")
    for package in ("site/app", "tests/deep"):
        put(tmp_path / package / "__init__.py")
    for marker in ("site/manage.py", "tests/conftest.py"):
        put(tmp_path / marker)
    assert checker(file, f"from {name} import Y\nx: int = Y\n") == [2]
    assert checker(file, f"from {name}x import Y\n") == [1]


def test_packages_that_pdm_keeps_without_an_environment_are_seen(checker, tmp_path):
    packages = tmp_path / "__pypackages__/3.12/lib"
    put(packages / "acme/__init__.py", "def f(a: int) -> str: ...\n")
    put(packages / "acme/py.typed")
    found = find_environment(tmp_path / "a.py", tmp_path)
    assert found
    assert (found.version, found.packages) == ("3.12", (packages,))
    assert checker("a.py", USER) == [2]


def test_a_sibling_package_of_the_workspace_is_seen(checker, tmp_path):
    put(tmp_path / "pyproject.toml", UV)
    put(tmp_path / "packages/q/pyproject.toml")
    put(tmp_path / "packages/p/src/p/other.py", "Y = 's'\n")
    environment(tmp_path / ".venv")
    assert checker("packages/q/q/a.py", SIBLING) == [2]


def test_an_active_environment_elsewhere_is_seen(checker, tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(environment(tmp_path_factory.mktemp("envs"))))
    assert checker("a.py", USER) == [2]


def test_a_configured_environment_goes_before_others(checker, tmp_path):
    put(tmp_path / "pyproject.toml", "[tool.ty.environment]\npython = 'mine/bin/python3'\n")
    environment(tmp_path / "mine")
    put(tmp_path / ".venv/pyvenv.cfg", "home = /usr\nversion = 3.11.2\n")
    (tmp_path / ".venv/lib/python3.11/site-packages").mkdir(parents=True)
    assert checker("a.py", USER) == [2]


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("ty.toml", "[environment]\npython = '../mine'\n"),
        ("pyrefly.toml", "python-interpreter-path = '../mine/bin/python'\n"),
        ("pyrefly.toml", "python-interpreter = '../mine/bin/python'\n"),
        ("pyproject.toml", "[tool.pyrefly]\npython-interpreter-path = '../mine/bin/python'\n"),
        ("pyrightconfig.json", '{"venvPath": "..", "venv": "mine"}'),
        ("pyrightconfig.json", '// a\n{"venvPath": "..", /* b\n */ "venv": "mine", // c\n}\n'),
        ("pyrightconfig.json", '\ufeff{"strict": ["http://x",], "venvPath": "..", "venv": "mine"}'),
        ("pyproject.toml", "[tool.basedpyright]\nvenvPath = '..'\nvenv = 'mine'\n"),
    ],
)
def test_the_settings_of_each_checker_name_an_environment(file, settings, tmp_path):
    put(tmp_path / "p" / file, settings)
    assert find_environment(tmp_path / "p/a.py", tmp_path) is None
    environment(tmp_path / "p/.venv")
    made = environment(tmp_path / "mine")
    assert find_environment(tmp_path / "p/a.py", tmp_path).folder == made


@pytest.mark.parametrize("name", ["a" * 300, "a" * 5000, "a\\u0000b", "\\ud800"])
def test_what_cannot_be_looked_at_is_no_environment(name, tmp_path):
    put(tmp_path / "pyrightconfig.json", f'{{"venvPath": "{name}", "venv": "v"}}')
    assert find_environment(tmp_path / "a.py", tmp_path) is None
    packages = environment(tmp_path / ".venv") / "lib/python3.11/site-packages"
    put(packages / "x.pth", f"{name}\n")
    assert find_environment(tmp_path / "a.py", tmp_path).packages == (packages,)


@pytest.mark.parametrize(
    "name", ["pyrightconfig.json", "ty.toml", "pyrefly.toml", "environment.yaml", "pyproject.toml"]
)
def test_a_pipe_in_place_of_settings_is_not_waited_for(name, tmp_path):
    os.mkfifo(tmp_path / name)
    assert find_environment(tmp_path / "a.py", tmp_path) is None
    assert minimal_python(tmp_path / "a.py", tmp_path) == ""


@pytest.mark.parametrize("part", ["/*", '\\"', ",\n", "//"])
def test_settings_that_never_end_are_read_in_no_time(part, tmp_path):
    put(tmp_path / "pyrightconfig.json", part * (60_000 // len(part)))
    began = time.thread_time()  # what others take counts for nothing
    assert find_environment(tmp_path / "a.py", tmp_path) is None
    assert time.thread_time() - began < 1


def test_a_directory_is_no_interpreter(tmp_path):
    made = environment(tmp_path / "python-env")
    put(tmp_path / "pyrightconfig.json", '{"venv": "python-env"}')
    assert find_environment(tmp_path / "a.py", tmp_path).folder == made


def test_an_installed_package_stands_behind_the_standard_library(checker, tmp_path):
    packages = environment(tmp_path / ".venv") / "lib/python3.11/site-packages"
    put(packages / "dataclasses.py", "def other(): ...\n")
    assert checker("a.py", "from dataclasses import dataclass, other\n") == [1]
    assert checker("b.py", "from dataclasses import dataclass\n") == []


def test_packages_of_our_own_interpreter_are_not_seen(checker):
    assert checker("a.py", "import pydantic\n") == [1]


def test_the_version_is_that_of_the_project(checker, tmp_path):
    environment(tmp_path / ".venv", "3.14")
    assert checker("a.py", "import compression.zstd\n") == []


def test_an_installation_is_noticed(checker, tmp_path):
    packages = environment(tmp_path / ".venv") / "lib/python3.11/site-packages"
    assert checker("a.py", "import later\n") == [1]
    put(packages / "later/__init__.py")
    assert checker("a.py", "import later\n") == []


def test_an_installation_leaves_no_server_behind(checker, tmp_path):
    packages = environment(tmp_path / ".venv") / "lib/python3.11/site-packages"
    for number in range(3):
        put(packages / f"later{number}/__init__.py")
        assert checker("a.py", f"import later{number}\n") == []
    assert len(children(checker.servers)) == 1


def test_an_editable_installation_is_followed_only_within_the_workspace(tmp_path):
    root = tmp_path / "root"
    packages = environment(root / ".venv") / "lib/python3.11/site-packages"
    (root / "lib").mkdir()
    (tmp_path / "outside").mkdir()
    lines = f"{root}/lib\n{tmp_path}/outside\nimport os\n# note\n{root}/gone\n"
    put(packages / "__editable__.pth", lines)
    found = find_environment(root / "a.py", root)
    assert found.packages == (packages, root / "lib")


OUTSIDE = {  # what a project may write or link: name -> what it leads to, beside the project
    "packages": {".venv/lib/python3.11/site-packages": "private/lib"},
    "python3.11": {".venv/lib/python3.11": "private"},
    "folder": {".venv": "private/venv"},
    "settings": {},
    "root": {".venv/lib/python3.11/site-packages": "/"},
}


@pytest.mark.parametrize("way", OUTSIDE)
def test_no_link_and_no_setting_of_the_project_opens_what_lies_outside(way, tmp_path):
    root, private = tmp_path / "root", tmp_path / "private"
    environment(private / "venv")
    put(private / "lib/keys.py", 'API_KEY = "TOPSECRET"\n')
    (private / "site-packages").symlink_to("lib")
    put(private / "venv/lib/python3.11/site-packages/keys.py", 'API_KEY = "TOPSECRET"\n')
    put(root / "a.py", "import k\nimport keys\nreveal_type(k.API_KEY)\nreveal_type(keys.API_KEY)\n")
    (root / "k.py").symlink_to(private / "lib/keys.py")
    if way != "folder":
        put(root / ".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
    for name, to in OUTSIDE[way].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(tmp_path / to)
    if way == "settings":
        put(root / "ty.toml", f"[environment]\npython = '{private}/venv'\n")
    with closing(Workspace(root, servers={"python": ["ty"]})) as workspace:
        told = toolset("workspace").bind(workspace)["lsp"].call({"file_path": "a.py"}).text
    assert "1 import not found (keys): no environment of this project was found" in told
    assert "TOPSECRET" not in told


def test_a_link_to_an_environment_that_the_host_named_is_followed(
    checker, tmp_path, tmp_path_factory, monkeypatch
):
    made = environment(tmp_path_factory.mktemp("envs"))
    (tmp_path / ".venv").symlink_to(made)
    assert checker("a.py", USER) == [1]  # nobody but the project says so: `acme` is not seen
    monkeypatch.setenv("CONDA_PREFIX", str(made))
    assert checker("a.py", USER) == [2]


@pytest.mark.parametrize("name", ["3.x;y", "3." + "1" * 5000, "3.13t"])
def test_a_version_that_is_none_is_no_error(name, tmp_path):
    put(tmp_path / ".venv/pyvenv.cfg", f"version = {name}\n")
    (tmp_path / ".venv/lib/python3.x;y/site-packages").mkdir(parents=True)
    put(tmp_path / "a.py", "x: int = ''\n")
    put(tmp_path / "pyproject.toml", f'[project]\nrequires-python = ">={name}"\n')
    with closing(Workspace(tmp_path, servers={"python": ["ty"]})) as workspace:
        told = toolset("workspace").bind(workspace)["lsp"].call({"file_path": "a.py"})
    assert told.ok
    assert "a.py:1" in told.text


def test_the_environments_of_poetry_conda_and_uv_are_found(tmp_path, monkeypatch):
    root, file = tmp_path / "project", tmp_path / "project/a.py"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find_environment(file, root) is None
    conda = tmp_path / "conda/envs/science"
    (conda / "conda-meta").mkdir(parents=True)
    (conda / "lib/python3.13/site-packages").mkdir(parents=True)
    put(tmp_path / ".conda/environments.txt", f"{tmp_path}/conda\n{conda}\n")
    put(root / "environment.yaml", "name: 'science'\n")
    assert find_environment(file, root).folder == conda
    (root / "environment.yaml").rename(root / "environment.yml")
    assert find_environment(file, root).folder == conda
    assert find_environment(file, root).version == "3.13"
    put(root / "pyproject.toml", '[tool.poetry]\nname = "My App"\n')
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(root).encode()).digest()).decode()[:8]
    poetry = environment(tmp_path / f"cache/pypoetry/virtualenvs/my_app-{digest}-py3.11")
    assert find_environment(file, root).folder == poetry
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    monkeypatch.setenv("POETRY_CACHE_DIR", str(tmp_path / "cache/pypoetry"))
    assert find_environment(file, root).folder == poetry
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", "elsewhere")
    for name in ("elsewhere", "env", "venv", ".venv"):  # each goes before the ones above it
        made = environment(root / name)
        assert find_environment(file, root).folder == made


def test_the_least_version_is_that_of_the_nearest_project(tmp_path):
    put(tmp_path / "pyproject.toml", '[project]\nrequires-python = ">=3.9,<4"\n')
    put(tmp_path / "p/pyproject.toml", '[project]\nname = "p"\n')
    put(tmp_path / "q/pyproject.toml", "[project]\nrequires-python = '~=3.13'\n")
    assert minimal_python(tmp_path / "p/a.py", tmp_path) == "3.9"
    assert minimal_python(tmp_path / "q/a.py", tmp_path) == "3.13"
    assert minimal_python(tmp_path / "a.py", tmp_path / "q") == ""


def test_a_module_that_is_missing_in_a_package_of_the_project_is_its_fault(tmp_path):
    put(tmp_path / "src/p/__init__.py")
    put(tmp_path / "src/q.py")
    put(tmp_path / "tests/beside.py")
    put(tmp_path / "acme/versions/1.py")  # a folder of files, beside the package of that name
    text = "import p.gone\nfrom q.gone import x\nimport acme.config\nimport beside\n"
    put(tmp_path / "tests/a.py", text)
    with closing(Workspace(tmp_path, servers={"python": ["ty"]})) as workspace:
        lsp = toolset("workspace").bind(workspace)["lsp"]
        told = lsp.call({"file_path": "tests/a.py"}).text
    assert "tests/a.py:1:8: error: Cannot resolve imported module `p.gone`" in told
    assert "tests/a.py:2:6: error: Cannot resolve imported module `q.gone`" in told
    assert "1 import not found (acme.config): no environment" in told


def test_an_import_that_is_not_found_is_told_without_where_it_was_looked_for(checker, tmp_path):
    environment(tmp_path / ".venv")
    checker("a.py", "import gone\n")
    checked = checker.servers.check(tmp_path / "a.py", "import gone\n", PATIENCE)
    (said,) = (p.message for p in checked.problems if p.severity == "error")
    assert "gone" in said
    assert len(said) < 60


def test_the_answer_names_the_environment_or_folds_what_it_misses(tmp_path):
    put(tmp_path / "a.py", "import acme\nimport other.x\nfrom . import gone\nx: int = ''\n")
    with closing(Workspace(tmp_path, servers={"python": ["ty"]})) as workspace:
        lsp = toolset("workspace").bind(workspace)["lsp"]
        out = lsp.call({"file_path": "a.py"})
        assert "2 imports not found (acme, other.x): no environment of this project" in out.text
        assert "unresolved" not in out.text.replace("from . import gone", "")
        environment(tmp_path / ".venv")
        out = lsp.call({"file_path": "a.py"})
        assert "Environment: .venv (Python 3.11)." in out.text
        assert "a.py:2:8: error: Cannot resolve imported module `other.x`" in out.text
        assert str(tmp_path) not in out.text


@pytest.mark.parametrize("line", ["{}a = 1", "[{}a]", "x = {{{}a = 1}}"])
def test_settings_that_swell_are_none(line, tmp_path):
    (tmp_path / "ty.toml").write_text(line.format("a." * 5000))
    tracemalloc.start()
    assert find_environment(tmp_path / "a.py", tmp_path) is None
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['lib', '../outside']\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = 'lib ../outside'\n"),
        ("pytest.ini", "[pytest]\npythonpath = lib\n  ../outside\naddopts = -q\n"),
    ],
)
def test_what_pytest_adds_to_the_path_is_a_source(name, text, tmp_path):
    base = tmp_path.resolve() / "base"
    put(base / name, text)
    (base / "lib").mkdir()
    (tmp_path / "outside").mkdir()
    assert import_roots(base) == [base, base / "lib"]


@pytest.mark.parametrize("members", ['["../*"]', '["**/**/**/x"]', "[5]", '"*"'])
def test_members_of_a_workspace_lie_in_it(members, tmp_path):
    (tmp_path / "other").mkdir()
    base = tmp_path / "base"
    base.mkdir()
    (base / "pyproject.toml").write_text(f"[tool.uv.workspace]\nmembers = {members}\n")
    assert import_roots(base) == [base]
