"""The house rules, executable."""

import ast
from pathlib import Path

import pytest

CORE = Path(__file__).parents[1] / "fsagent_tools"
LAYERS = [  # low to high: a module may import its own layer and lower ones, never a higher one
    {"errors", "text", "effects", "call", "globs", "display", "hosts", "problems", "placeholders"},
    {"lines", "matching", "policy", "results", "process", "sandbox", "web", "lsp", "lint", "media"},
    {"approval", "events"},
    {"files"},
    {"search", "session"},
    {"workspace"},
    {"answers"},
    {"action", "arguments"},
    {"actions"},
    {"entries", "wording", "tools"},
    {"toolsets"},
    {"oneshot", "options", "tokens", "config"},
    {"cli", "testing"},
]
FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "llama_index", "mcp", "deepagents"}
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(p for p in CORE.rglob("*.py") if p != CORE / "__init__.py")


def imports(node: ast.AST) -> set[str]:
    return {
        n.module.split(".")[1]
        for n in ast.walk(node)
        if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("fsagent_tools.")
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(CORE)))
def test_imports_point_down(path):
    own = path.relative_to(CORE).parts[0].removesuffix(".py")
    above = {m for m in imports(ast.parse(path.read_text())) if RANK[m] > RANK[own]}
    assert not above, f"{own} may not import {above}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(CORE)))
def test_files_stay_small(path):
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(CORE)))
def test_functions_stay_small_and_import_nothing(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < 50, f"{node.name} is too long"
            assert not imports(node), f"{node.name} hides an import"


@pytest.mark.parametrize(
    "path", [p for p in MODULES if "testing" not in p.parts], ids=lambda p: str(p.relative_to(CORE))
)
def test_the_core_knows_no_agent_framework(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
            )
            assert not FRAMEWORKS & {name.split(".")[0] for name in names}


def test_no_public_name_is_defined_twice():
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            else:
                continue
            for name in names:
                if name[0] != "_":
                    homes.setdefault(name, []).append(str(path.relative_to(CORE)))
    assert not {name: found for name, found in homes.items() if len(found) > 1}
