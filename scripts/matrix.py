"""The adapters' tests with the lowest versions of the frameworks; .venv has the newest.

Arguments go to pytest.
"""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from fitting import Suite, modules
from package import OUTER, PROJECT, ROOT, lowest, run

EXTRAS = ("langchain", "llamaindex", "mcp")  # whose frameworks are held at their lowest
MORE = ("config", "lsp", "media", "web")
# What agents are made of is no dependency of ours; older ones lack what approval is built upon.
AGENTS = ("langchain==1.4.2", "langgraph==1.2.11")
BESIDE = ("langgraph-checkpoint-sqlite>=3", "langchain-tests>=1.1")
TESTS = ("pytest>=8", "pytest-asyncio>=1", "hypothesis", "blockbuster>=1.5", "jsonschema>=4")
FOLDER = ROOT / "tests" / "adapters"


def left_out() -> dict[Path, set[str]]:
    """The test files that need what only .venv has, and that."""
    extras = PROJECT["optional-dependencies"]
    brought = (requirement for extra in (*EXTRAS, *MORE) for requirement in extras[extra])
    here = modules([*PROJECT["dependencies"], *brought, *AGENTS, *BESIDE, *TESTS])
    ours = {path.name for path in (ROOT / "adapters").glob("fsagent_tools_*")}
    missing = packages_distributions().keys() | ours
    missing -= here | {f"fsagent_tools_{extra}" for extra in EXTRAS}
    entries = PROJECT["entry-points"]["fsagent_tools.commands"]
    words = {word: place.partition(":")[0] for word, place in entries.items()}
    suite = Suite(FOLDER, (ROOT / "tests", FOLDER), words)
    needs = {path: suite.needs(path) & missing for path in suite.files}
    return {path: names for path, names in needs.items() if names}


def main() -> None:
    ignored = left_out()
    with TemporaryDirectory() as temporary:
        place = Path(temporary) / "venv"
        run(OUTER, "-m", "venv", "--without-pip", place)
        inside = place / "bin" / "python"
        wanted = (*lowest(",".join(EXTRAS)), *AGENTS, *BESIDE, *TESTS)
        pip = (OUTER, "-m", "pip", "--python", inside, "install", "--quiet")
        run(*pip, "--editable", f"{ROOT}[{','.join((*EXTRAS, *MORE))}]", *wanted)
        for path, names in ignored.items():
            print(f"Left out: {path.name} needs {', '.join(sorted(names))}", flush=True)
        words = sys.argv[1:] or ["-q", "-m", "not slow", "tests/adapters"]
        leaving = (f"--ignore={path}" for path in ignored)
        run(inside, "-m", "pytest", "-p", "no:cacheprovider", *leaving, *words)
    print("The adapters work with the lowest versions, too.")


if __name__ == "__main__":
    main()
