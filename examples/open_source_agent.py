"""An agent repairs a real package, deepmerge, whose own tests decide. No key, no network.

    python -m pip install fsagent-tools[langchain] langchain deepmerge==4.* pytest

Two lines of a copy are spoilt first. With FSAGENT_MODEL set (`openai:gpt-5`), that model does it.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model

from fsagent_tools.testing import Call, Message, Turn, call, line_id
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware

LISTS = "deepmerge/strategy/list.py"
FAULTS = {"return nxt + base": "return base + nxt", "merged = base[:]": "merged = base"}
TEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider deepmerge"
GOAL = (
    f"The tests of the package deepmerge fail. Run them with `{TEST}`, find the faults, repair the "
    "package and leave its tests alone. Run the tests again at the end."
)


def repair(said: Sequence[Message]) -> Call:
    """Both lines in one call, by the IDs that the read showed."""
    shown = said[-1].text.splitlines()
    below = next(at for at, line in enumerate(shown, 1) if "prepend nxt to base" in line)
    changes = [
        {"line_id": shown[below], "new_content": "        return nxt + base"},
        {"line_id": line_id(said, "merged = base"), "new_content": "        merged = base[:]"},
    ]
    return call("edit_lines", file_path=LISTS, changes=changes)


TURNS: list[Turn] = [
    call("bash", command=TEST),
    call("grep", pattern="def strategy_(prepend|append_unique)", path="deepmerge"),
    call("read", file_path=LISTS),
    repair,
    call("bash", command=TEST),
    "Repaired: prepend appended, and append_unique changed the list that it was given.",
]


def spoilt_copy(into: Path) -> None:
    found = find_spec("deepmerge")
    if found is None or found.origin is None:
        raise SystemExit("pip install deepmerge==4.*")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(found.origin).parent, into / "deepmerge", ignore=ignored)
    text = (into / LISTS).read_text()
    for right, wrong in FAULTS.items():
        if right not in text:
            raise SystemExit(f"This deepmerge has no {right!r}; the example needs version 4.")
        text = text.replace(right, wrong)
    (into / LISTS).write_text(text)


def tested(folder: Path) -> str:
    """The last line of the package's own tests."""
    run = subprocess.run(shlex.split(TEST), cwd=folder, capture_output=True, text=True)
    return run.stdout.strip().splitlines()[-1]


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        spoilt_copy(folder)
        print(f"before: {tested(folder)}\n\n{GOAL}")
        live = os.environ.get("FSAGENT_MODEL")
        model = init_chat_model(live) if live else ScriptedChatModel(TURNS)
        agent = create_agent(model, middleware=[FsAgentMiddleware(folder)])
        result = agent.invoke({"messages": [{"role": "user", "content": GOAL}]})
        for message in result["messages"][1:]:
            for asked in getattr(message, "tool_calls", ()):
                print(f"\n>>> {asked['name']}({asked['args']})")
            print(message.text)
        verdict = tested(folder)
        print(f"\nafter: {verdict}")
    if "failed" in verdict or "passed" not in verdict:
        raise SystemExit("the tests still fail")


if __name__ == "__main__":
    main()
