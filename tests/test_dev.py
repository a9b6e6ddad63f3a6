"""The script that starts everything, on machines that are not ready for it."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "dev.py"


def dev(*words, script=SCRIPT, python=sys.executable):
    command = [python, script, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_lists_the_tasks():
    for words in ((), ("--help",), ("-h",)):
        done = dev(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert "test" in done.stdout


def test_an_unknown_task_is_told_with_those_there_are():
    done = dev("tset")
    assert done.returncode == 1
    assert "no task 'tset'" in done.stderr
    assert "bench" in done.stderr


@pytest.fixture
def clone(tmp_path):
    """The script with a project of its own, installed without the network."""
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
        '[project]\nname = "own"\nversion = "1"\n'
        "[dependency-groups]\ntools = []\n"
        'dev = ["fsagent-tools[all]", {include-group = "tools"}]\n'
    )
    return tmp_path


def test_without_pip_one_sentence_says_how_to_get_it(clone):
    bare = clone / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    done = dev("test", script=clone / "dev.py", python=bare / "bin/python")
    assert done.returncode == 1
    assert done.stderr.startswith("pip is missing: install it")
    assert done.stderr.count("\n") == 1
    assert not (clone / ".venv").exists()


@pytest.mark.full
def test_a_half_made_environment_is_made_again(clone):
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").symlink_to("/nowhere/python")
    (clone / ".venv/dev.stamp").write_text("x")
    outer = sys._base_executable  # the interpreter that made the one of the tests
    if subprocess.run([outer, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("this Python has no pip")
    done = dev("test", script=clone / "dev.py", python=outer)
    assert done.stdout.startswith(
        f"Making {clone / '.venv'} ...\nInstalling what `dev` needs into "
    )
    assert done.returncode  # this project cannot be installed
    assert not (clone / ".venv/dev.stamp").exists()
    assert os.access(clone / ".venv/bin/python", os.X_OK)


def test_an_old_python_can_read_the_script():
    for version in ((3, 7), (3, 8), (3, 10)):
        ast.parse(SCRIPT.read_text(), feature_version=version)
    nodes = [type(node) for node in ast.walk(ast.parse(SCRIPT.read_text()))]
    assert not {ast.JoinedStr, ast.AnnAssign, ast.NamedExpr} & {*nodes}  # Python 2 has none


def test_dependency_groups_become_requirements_for_any_pip():
    module = runpy.run_path(str(SCRIPT))
    wanted = list(module["requirements"]("dev"))
    assert wanted[wanted.index(".[all]") - 1] == "--editable"
    assert any(one.startswith("twine") for one in wanted)  # of an included group
    groups = {group for _, group, _, _ in module["TASKS"]}
    assert all([*module["requirements"](group)] for group in groups)
