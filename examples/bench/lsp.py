"""Warm diagnostics through the tool, beside a bare client and the server's command line.

Run with `.venv/bin/python examples/bench/lsp.py`; needs ruff, ty and basedpyright. Prints medians
in milliseconds and fails when the tool costs more than twice the bare client, or more than a
fifth of the command line.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from fsagent_tools import Entry, Toolset, Workspace
from fsagent_tools.actions.diagnostics import diagnostics
from fsagent_tools.lsp.child import Child
from fsagent_tools.lsp.programs import fit, search_path
from fsagent_tools.lsp.server import PULL, Server
from fsagent_tools.lsp.table import SPECS

BIN = Path(sys.executable).parent
ROUNDS = 40
LIMITS = {"bare": 2.0, "command line": 0.2}
COMMANDS = {
    "ruff": ("ruff", "check", "--no-cache", "-q"),
    "ty": ("ty", "check", "-q"),
    "basedpyright": ("basedpyright",),
}
FUNCTION = '''
def total_{n}(prices: list[int], rate: float = 0.{n}) -> float:
    """Sum of prices with a rate."""
    kept = [price for price in prices if price > {n}]
    return sum(kept) * (1 + rate)

'''


def source(round_number: int) -> str:
    body = "".join(FUNCTION.format(n=n) for n in range(1, 31))
    return f"{body}answer_{round_number}: int = total_1([{round_number}], 'wrong')\n"


class Bare:
    """The server's own answer time: one change and one question, nothing around it."""

    def __init__(self, name: str, root: Path, file: Path) -> None:
        path = search_path(root)
        spec = fit(SPECS[name], path)
        assert spec, f"{name} is not installed"
        self.server = Server(Child(spec.command, root, path), root, spec.settings)
        self.server.start(spec.options, time.monotonic() + 60)
        self.uri = file.as_uri()
        self.version = 1
        assert self.server.diagnose(file, "python", source(0), time.monotonic() + 60) is not None

    def ask(self, text: str) -> None:
        self.version += 1
        named = {"uri": self.uri, "version": self.version}
        changed = {"textDocument": named, "contentChanges": [{"text": text}]}
        client = self.server.client
        client.notify("textDocument/didChange", changed)
        client.request(PULL, {"textDocument": {"uri": self.uri}}, time.monotonic() + 60)


def milliseconds(work, *arguments) -> float:
    started = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - started) * 1000


def measure(name: str, root: Path) -> dict[str, float]:
    file = root / f"{name}.py"
    file.write_text(source(0))
    workspace = Workspace(root, servers={"python": (name,)})
    tool = Toolset("bench", (Entry(diagnostics, name="lsp"),)).bind(workspace)["lsp"]
    bare = Bare(name, root, file)
    assert tool.call({"path": file.name}).ok
    times: dict[str, list[float]] = {"bare": [], "tool": [], "command line": []}
    for number in range(1, ROUNDS):
        text = source(number)
        file.write_text(text)
        times["tool"].append(milliseconds(tool.call, {"path": file.name}))
        times["bare"].append(milliseconds(bare.ask, text))
    command = [str(BIN / COMMANDS[name][0]), *COMMANDS[name][1:], str(file)]
    for _ in range(3):
        run = milliseconds(lambda: subprocess.run(command, capture_output=True, check=False))
        times["command line"].append(run)
    bare.server.client.stop(0)
    workspace.close()
    return {what: median(values) for what, values in times.items()}


def main() -> None:
    failed = False
    print(f"{'server':14}{'tool':>9}{'bare':>9}{'x':>6}{'command line':>14}{'x':>7}")
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            took = measure(name, Path(folder).resolve())
        ratios = {what: took["tool"] / took[what] for what in LIMITS}
        failed |= any(ratios[what] > limit for what, limit in LIMITS.items())
        print(
            f"{name:14}{took['tool']:9.2f}{took['bare']:9.2f}{ratios['bare']:6.2f}"
            f"{took['command line']:14.1f}{ratios['command line']:7.3f}"
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
