"""The glue of docs/howto/frameworks.md, as it stands there, in the environment of each framework.

A framework that is not installed beside the tests has an environment of its own, named by
FRAMEWORK_ENVIRONMENTS (directories, separated as in PATH); it needs pydantic and ripgrep, too.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/frameworks.md").read_text()
BLOCKS = dict(re.findall(r'```python title="(\S+)"\n(.*?)```', PAGE, re.DOTALL))
PYTHONS = [sys.executable] + [
    f"{folder}/bin/python"
    for folder in filter(None, os.environ.get("FRAMEWORK_ENVIRONMENTS", "").split(os.pathsep))
]
READ = {  # of the tools: the text that each framework gets of a call
    "pydantic_ai": "await by_name['read'].function(file_path='README.md')",
    "agents": "await by_name['read'].on_invoke_tool(None, '{\"file_path\": \"README.md\"}')",
    "smolagents": "by_name['read'](file_path='README.md', limit=None)",
    "langchain_mcp_adapters": "await by_name['read'].ainvoke({'file_path': 'README.md'})",
    "llama_index.tools.mcp": "(await by_name['read'].acall(file_path='README.md')).content",
    "mcp.client.stdio": "await client.call_tool('read', {'file_path': 'README.md'})",
}
PROGRAM = """
import asyncio

def name_of(tool):
    return getattr(getattr(tool, "metadata", None), "name", None) or tool.name

async def main():
{block}
{more}    by_name = {{name_of(tool): tool for tool in tools}}
{more}    assert {{"read", "edit_lines", "bash"}} <= {{*by_name}}, [*by_name]
{more}    print({read})

asyncio.run(main())
"""


def python_with(module):
    for python in PYTHONS:
        found = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
        if not subprocess.run([python, "-c", found], capture_output=True).returncode:
            return python
    pytest.skip(f"no environment has {module}")


@pytest.mark.parametrize("module", BLOCKS)
def test_the_glue_of_the_page_reads_a_file(module, shop):
    python = python_with(module)
    block = indent(BLOCKS[module].rstrip(), "    ")
    more = "    " * block.rstrip().split("\n")[-1].startswith("        ")  # inside a `with`
    code = PROGRAM.format(block=block, read=READ[module], more=more)
    scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # has `fsagent`
    environment = {**os.environ, "PATH": scripts, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [python, "-c", code], cwd=shop, env=environment, capture_output=True, text=True
    )
    assert "Shop" in done.stdout or "shop" in done.stdout, done.stdout + done.stderr
