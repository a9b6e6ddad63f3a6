"""Every program of the cookbook runs as it is, on its own copy of the project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

COOKBOOK = Path(__file__).parents[1] / "examples/cookbook"
SHOWN = {  # program -> the end of what it prints
    "review": 'the cents of "12.5" count as 5, not as 50.\n',
    "fix_branch": " shop/prices.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n",
    "write_docs": '+`parse("12.50")` gives cents: 1250. `show(1250)` gives "12.50".\n',
    "repair_ci": "         return total\n ",
    "many_users": "guest [\"Error: This workspace is read-only, and 'write' changes files.\"]\n",
    "go_back": "4 first\n",
    "migrate": "-import unittest\n+import pytest\n \n from shop import prices\n",
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_program_runs(name, tmp_path):
    live = ("FSAGENT_MODEL", "IMAGE")
    alone = {key: value for key, value in os.environ.items() if key not in live}
    command = [sys.executable, COOKBOOK / f"{name}.py"]
    environment = {**alone, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert SHOWN[name].strip() in done.stdout, done.stdout


def test_every_program_is_listed():
    programs = {path.name for path in COOKBOOK.glob("*.py")}
    text = (COOKBOOK.parents[1] / "docs/howto/cookbook.md").read_text()
    assert {name for name in programs if f"cookbook/{name})" in text} == programs
    assert {f"{name}.py" for name in SHOWN} | {"offline.py"} == programs
