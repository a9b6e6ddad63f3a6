"""Scripts without a suffix, and the cells of notebooks."""

import json

import pytest

from fsagent_tools.lsp.notebook import module_of

FAULT = "def f(x: int) -> int:\n    return x\n\n\nf('s')\n"
SHEBANGS = {
    "#!/usr/bin/env python3": FAULT,
    "#!/usr/bin/python3.11 -u": FAULT,
    "#!/usr/bin/env -S uv run --script": FAULT,
    "#!/bin/bash": "if true; then\necho\n",
    "#! /bin/sh -e": "if true; then\necho\n",
}


@pytest.mark.parametrize("first", SHEBANGS)
def test_a_script_is_of_the_language_that_its_first_line_names(first, asked):
    program = "bash-language-server" if first.endswith(("bash", "-e")) else "ty"
    ask = asked([program], {"run": f"{first}\n{SHEBANGS[first]}", "notes": "#! no program\n"})
    assert ask("run").startswith("run:")
    with pytest.raises(AssertionError, match="No language server is known for files without"):
        ask("notes")


def notebook(*cells, **metadata):
    """cells: (kind, source)."""
    made = [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells]
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4})


MAGIC = [
    "%matplotlib inline",
    "!pip install x",
    "files = !ls *.py\nfor file in files:\n    print(file)",
    "result = %time 1",
    "%%bash\nls {",
    "print?",
    "display(get_ipython())",
    "import os\nos.getcwd()",
    "x = (7\n    % 2)",
]


def test_cells_are_one_module_and_problems_are_told_by_cell(asked):
    right = [("code", cell) for cell in MAGIC]
    wrong = ("code", "import sys\n\n\n\nf('s')\nnope")
    cells = (("markdown", "# f('s')"), ("code", FAULT.rpartition("f")[0]), *right, wrong)
    lines = asked(["ty", "ruff"], {"a.ipynb": notebook(*cells)})("a.ipynb").splitlines()
    errors = [line for line in lines if ": error: " in line]
    assert [line.rpartition(": error: ")[0] for line in errors] == [
        f"a.ipynb:cell {len(cells)}:5:3",
        f"a.ipynb:cell {len(cells)}:6:1",
    ]


def test_cells_without_a_fault_have_no_problems(asked):
    told = asked(["ty", "ruff"], {"a.ipynb": notebook(("code", "x = 1\n"))})("a.ipynb")
    assert told == "No problems in a.ipynb (ty, ruff)."


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[" * 100_000,
        '{"cells": 7}',
        notebook(("markdown", "x")),
        notebook(("code", "1"), language_info={"name": "julia"}),
    ],
)
def test_what_holds_no_python_is_no_module(text):
    assert module_of(text) is None
