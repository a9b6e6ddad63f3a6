"""Scripts without a suffix."""

import pytest

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
