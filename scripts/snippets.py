"""Type-check every Python block of the documents with mypy strict and basedpyright.

`model`, `llm` and `url` stand for the reader's own; what a block says at its top level may await.
"""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GIVEN = """from langchain_core.language_models import BaseChatModel
from llama_index.core.llms.function_calling import FunctionCallingLLM

model: BaseChatModel
llm: FunctionCallingLLM
url: str
"""
READER = "from given import llm as llm, model as model, url as url\n\n"
MYPY = ("--strict", "--no-error-summary", "--disable-error-code=no-untyped-def")
PYRIGHT = """[tool.basedpyright]
typeCheckingMode = "standard"
"""


def checkable(code: str) -> str:
    """The block as a module, or as a coroutine function where it awaits."""
    awaits = any(
        isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)
        for node in ast.walk(parsed(code))
    )
    return READER + (f"async def page() -> None:\n{indent(code, '    ')}" if awaits else code)


def parsed(code: str) -> ast.AST:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree: ast.AST = compile(code, "block", "exec", flags=flags)
    return tree


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder, blocks = Path(temporary), []
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
            text = page.read_text()
            for match in FENCE.finditer(text):
                line = text[: match.start()].count("\n") + 2
                place = re.sub(r"\W", "_", str(page.relative_to(ROOT)))
                blocks.append(folder / f"{place}_line_{line}.py")
                blocks[-1].write_text(checkable(match[1]))
        (folder / "given.pyi").write_text(GIVEN)
        (folder / "pyproject.toml").write_text(PYRIGHT)
        mypy = ("-m", "mypy", *MYPY, "--config-file=", "--cache-dir", ROOT / ".mypy_cache")
        pyright = ("-m", "basedpyright", "--pythonpath", sys.executable, "--level", "error")
        path = {**os.environ, "MYPYPATH": f"{ROOT}:{ROOT / 'adapters'}"}
        first = subprocess.run([sys.executable, *mypy, *blocks], cwd=folder, env=path).returncode
        second = subprocess.run([sys.executable, *pyright, folder], cwd=folder).returncode
    sys.exit(first or second)


if __name__ == "__main__":
    main()
