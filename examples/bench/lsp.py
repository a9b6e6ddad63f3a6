"""The answer to an edit through the tool, beside a bare client and the server's command line.

Run with `.venv/bin/python examples/bench/lsp.py [server...]`; a server that is not installed is
left out. Prints milliseconds, the smallest and the median of each, and how the smallest compare;
fails when that is above `MOST`.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fsagent_tools import Policy, Toolset, Workspace
from fsagent_tools.errors import NoLanguageServer
from fsagent_tools.lsp.client import LanguageServer
from fsagent_tools.lsp.process import ServerConfinement, ServerProcess
from fsagent_tools.lsp.servers import LANGUAGES, SPECS, language_id, runnable
from fsagent_tools.policy.programs import Programs
from fsagent_tools.shell.closed import ClosedPaths
from fsagent_tools.shell.environment import PrivateDirectory
from fsagent_tools.types import Entry

BIN = Path(sys.executable).parent
ROUNDS = 30
MOST = {"gopls": 3, "clangd": 3, "ty": 3, "ruff": 3}  # times the bare client
LONGEST = 60.0  # seconds
FUNCTIONS = range(1, 31)
PYTHON = '''
def total_{n}(prices: list[int], rate: float = 0.{n}) -> float:
    """Sum of prices with a rate."""
    kept = [price for price in prices if price > {n}]
    return sum(kept) * (1 + rate)

'''
GO = """
func total{n}(prices []int) int {{
	sum := 0
	for _, price := range prices {{
		if price > {n} {{
			sum += price
		}}
	}}
	return sum
}}
"""
C = """
int total_{n}(const int *prices, int count) {{
    int sum = 0;
    for (int at = 0; at < count; at++)
        if (prices[at] > {n}) sum += prices[at];
    return sum;
}}
"""


@dataclass(frozen=True)
class Case:
    """`last`, at the end of the file, uses the name `undefined_N`, new in each round."""

    server: str
    language: str
    file: str
    first: str
    each: str
    last: str
    command: tuple[str, ...]
    beside: tuple[str, str] = ("note.txt", "")  # a file that the project needs

    def text(self, number: int) -> str:
        body = "".join(self.each.format(n=n) for n in FUNCTIONS)
        return f"{self.first}{body}{self.last.format(n=number)}"


PYTHONS = {
    "ruff": (str(BIN / "ruff"), "check", "--no-cache", "-q"),
    "ty": (str(BIN / "ty"), "check", "-q"),
    "basedpyright": (str(BIN / "basedpyright"),),
}
CASES = [
    *(
        Case(name, "python", "a.py", "", PYTHON, "answer: int = undefined_{n}\n", command)
        for name, command in PYTHONS.items()
    ),
    Case(
        "gopls",
        "go",
        "a.go",
        "package p\n",
        GO,
        "var Answer int = undefined_{n}\n",
        ("go", "vet"),
        ("go.mod", "module example.com/p\n\ngo 1.19\n"),
    ),
    Case(
        "clangd",
        "c",
        "a.c",
        "#include <stdio.h>\n",
        C,
        "int answer = undefined_{n};\n",
        ("cc", "-fsyntax-only"),
    ),
]


class Bare:
    """The server's own answer time: one change and one question, nothing around it."""

    def __init__(self, case: Case, file: Path) -> None:
        root, programs = file.parent, Programs((str(file.parent),))
        if not (spec := runnable(SPECS[case.server], programs)):
            raise NoLanguageServer(f"{case.server} is not installed.")
        self._directory = PrivateDirectory("fsagent-bench-")
        confinement = ServerConfinement(programs, ClosedPaths(str(root), Policy()))
        launch = confinement.launch(spec.command, root, self._directory.path, "")
        self._server, self._file = LanguageServer(spec, ServerProcess(launch), root), file
        self._server.start(time.monotonic() + LONGEST)
        self._language = language_id(file, LANGUAGES[case.language])
        self._server.diagnose(file, self._language, case.text(0), time.monotonic() + LONGEST)

    def ask(self, text: str, word: str) -> None:
        """Returns when the server has said `word` of `text`."""
        deadline = time.monotonic() + LONGEST
        told = self._server.diagnose(self._file, self._language, text, deadline)
        assert word in str(told), told

    def close(self) -> None:
        self._server.close()
        self._directory.close()


def milliseconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    work(*arguments)
    return (time.perf_counter() - started) * 1000


def measure(case: Case, folder: Path) -> dict[str, list[float]]:
    file = folder / case.file
    folder.joinpath(case.beside[0]).write_text(case.beside[1])
    file.write_text(case.text(0))
    bare = Bare(case, file)
    times: dict[str, list[float]] = {"bare": [], "tool": [], "command line": []}
    with closing(Workspace(folder, servers={case.language: (case.server,)})) as workspace:
        tool = Toolset("bench", (Entry("diagnostics", name="lsp"),)).bind(workspace)["lsp"]
        assert tool.call({"path": case.file}).ok
        for number in range(1, ROUNDS):
            text, word = case.text(number), f"undefined_{number}"
            file.write_text(text)
            answers: list[str] = []
            ask = lambda into=answers: into.append(tool.call({"path": case.file}).text)  # noqa: E731
            times["tool"].append(milliseconds(ask))
            assert word in answers[0], answers
            times["bare"].append(milliseconds(bare.ask, text, word))
    bare.close()
    command = [*case.command, str(file)]
    for _ in range(3):
        run = milliseconds(lambda: subprocess.run(command, capture_output=True, check=False))
        times["command line"].append(run)
    return times


def main() -> None:
    failed = False
    print(f"{'server':14}{'tool':>14}{'bare':>14}{'x':>7}{'command line':>16}{'x':>7}")
    for case in CASES:
        if sys.argv[1:] and case.server not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                took = measure(case, Path(folder).resolve())
            except NoLanguageServer:
                print(f"{case.server:14} is not installed")
                continue
        ratio = {what: min(took["tool"]) / min(each) for what, each in took.items()}
        failed |= ratio["bare"] > MOST.get(case.server, ratio["bare"])
        shown = {what: f"{min(each):.1f} {median(each):.1f}" for what, each in took.items()}
        print(
            f"{case.server:14}{shown['tool']:>14}{shown['bare']:>14}{ratio['bare']:7.2f}"
            f"{shown['command line']:>16}{ratio['command line']:7.3f}",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
