"""What is published: metadata, licences, and a wheel that works without its sources."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fsagent_tools
from benchmark.__main__ import SUITES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def script(*words):
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_version_is_written_once():
    written = f'"{PROJECT["version"]}"'
    files = [*(ROOT / "fsagent_tools").rglob("*.py"), ROOT / "CITATION.cff"]
    assert not [path for path in files if written in path.read_text()]


def test_an_extra_installs_nothing_for_development():
    extras = {*PROJECT["optional-dependencies"]}
    assert not extras & {"dev", "demo", "bench", "docs", "package"}


def test_a_dependency_whose_private_method_is_overridden_has_an_upper_bound():
    for extra, core in (("langchain", "langchain-core"), ("llamaindex", "llama-index-core")):
        (wanted,) = (
            one for one in PROJECT["optional-dependencies"][extra] if re.match(rf"{core}\b", one)
        )
        assert re.search(r",<[\d.]+$", wanted)


def test_the_workflows_run_tasks_that_exist():
    tasks = script("dev.py", "--help").stdout
    named = set()
    for path in [*(ROOT / ".github/workflows").glob("*.yml"), ROOT / ".ci/run"]:
        named |= {*re.findall(r"python3? dev\.py (\w+)", path.read_text())}
    assert named >= {"lint", "test", "package", "docs"}
    assert all(re.search(rf"^  {task} ", tasks, re.MULTILINE) for task in named)
    (suites,) = re.findall(
        r"for suite in ([\w ]+); do .*-m benchmark", (ROOT / ".ci/run").read_text()
    )
    assert {*suites.split()} <= {*SUITES}


def test_every_licence_is_in_the_table_and_accepted():
    done = script("scripts/licences.py", "--check")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_wheel_is_well_formed_and_works_away_from_its_sources():
    done = script("scripts/package.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"fsagent-tools {fsagent_tools.__version__} works" in done.stdout
