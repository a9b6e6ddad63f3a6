"""Examples run as written; notebooks say what they say when they are run again."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.full

EXAMPLES = Path(__file__).parents[1] / "examples"
FRAMEWORKS = ("langchain", "llamaindex")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_agent_fixes_the_project(framework):
    script = EXAMPLES / f"{framework}_agent.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "tests before: FAILED (failures=2)" in run.stdout
    assert "was rewritten or removed by an edit" in run.stdout
    assert run.stdout.endswith("tests after: OK\n")


def test_a_deep_agent_fixes_the_project():
    script = EXAMPLES / "deepagents_agent.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "tests before: FAILED (failures=2)" in run.stdout
    assert re.search(r"Ran \d+ tests", run.stdout), "the agent ran them itself"
    assert run.stdout.endswith("tests after: OK\n")


def test_an_agent_repairs_a_package_whose_own_tests_decide():
    script = EXAMPLES / "open_source_agent.py"
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # those installed for our tests
    run = subprocess.run(
        [sys.executable, script], env=alone, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"^before: \d+ failed", run.stdout)
    assert re.search(r"^after: \d+ passed", run.stdout, re.MULTILINE)


def said(notebook):
    """Sorted lines by cell: calls of one turn may finish in any order."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", ())
        printed = "".join(o.get("text", "") for o in outputs)  # in pieces of any size
        shown = [
            o["data"].get("text/html", o["data"]["text/plain"]) for o in outputs if "data" in o
        ]
        yield sorted("\n".join([printed, *shown]).splitlines())


@pytest.mark.usefixtures("home")  # where IPython writes
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # jupyter's own
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_notebook_runs_anywhere_and_says_the_same(framework, tmp_path, request):
    path = EXAMPLES / f"{framework}_agent.ipynb"
    kept, anew = nbformat.read(path, 4), nbformat.read(path, 4)
    assert kept.cells[1].source.startswith("%pip install")  # not executed here: it has a tag
    NotebookClient(anew, resources={"metadata": {"path": tmp_path}}, timeout=120).execute()
    if request.config.getoption("--update-golden"):
        for cell in anew.cells:
            cell.metadata.pop("execution", None)
        anew.metadata.language_info = kept.metadata.language_info
        nbformat.write(anew, path)
        kept = anew
    assert [*said(anew)] == [*said(kept)]
    shown = "\n".join(line for cell in said(kept) for line in cell)
    for part in ('<span style="color:#1a7f37">+', "border-left", "PATH_DENIED", "APPROVAL_DENIED"):
        assert part in shown
