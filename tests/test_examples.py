"""Examples run as written; notebooks say what they say when they are run again."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

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


def said(notebook):
    """Sorted lines by cell: calls of one turn may finish in any order."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", ())
        texts = [o.get("text") or o.get("data", {}).get("text/plain") for o in outputs]
        yield sorted("".join(filter(None, texts)).splitlines())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # jupyter's own
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_notebook_runs_and_says_the_same(framework):
    path = EXAMPLES / f"{framework}_agent.ipynb"
    kept, anew = nbformat.read(path, 4), nbformat.read(path, 4)
    NotebookClient(anew, resources={"metadata": {"path": EXAMPLES}}, timeout=120).execute()
    assert [*said(anew)] == [*said(kept)]
    assert any(said(kept))
