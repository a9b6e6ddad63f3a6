"""The package for LlamaHub: what its listing names is there, and works beside LlamaIndex itself."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

LISTING = Path(__file__).parents[2] / "examples/llamahub"


def test_the_listing_names_a_tool_spec_that_reads(shop):
    told = tomllib.loads((LISTING / "pyproject.toml").read_text())
    listed = told["tool"]["llamahub"]
    (name,) = listed["class_authors"]
    assert listed["import_path"].endswith(
        told["project"]["name"].removeprefix("llama-index-tools-")
    )
    code = f"import llama_index.core\nfrom {listed['import_path']} import {name}\n"
    code += f"print({name}('.').read('shop/prices.py'))"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=shop,
        env={**os.environ, "PYTHONPATH": str(LISTING)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "def parse" in ran.stdout, ran.stderr
