"""Tokens of scripted sessions, in every style of line IDs and in deepagents.

python -m benchmark.tokens.session: one that renames, one that repairs single lines, one that writes
a function anew, one that only reads. Input is what the model is sent over all calls: definitions,
and all arguments and results so far.
"""

import ast
import sched
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmark.tokens.counting import counted
from benchmark.tokens.forms import FORMS, Quoting
from benchmark.tokens.sides import SIX, Ours, Side, Theirs, Told
from fsagent_tools import toolset
from fsagent_tools.lines.styles import STYLES

FILES = ("sched.py", "bisect.py", "getopt.py", "fnmatch.py")
NOTE = "# Notes\n\n- `_sentinel` is now `_MISSING`\n- a missing argument is reported in one way\n"
OLD, NEW = "_sentinel", "_MISSING"  # in sched.py
OTHER = ("class GetoptError(Exception):", "class GetoptError(ValueError):")  # in getopt.py
REPAIRS = {  # single lines
    "sched.py": ("            return not self._queue", "            return len(self._queue) == 0"),
    "getopt.py": OTHER,
    "fnmatch.py": (
        "    name = os.path.normcase(name)",
        "    name = os.path.normcase(os.fspath(name))",
    ),
}
OUTPUT, CACHE_WRITE, CACHE_READ = 5, 1.25, 0.1  # prices of tokens, in those of input
BILLED = "priced in tokens of input, with the prompt cached"
RUN = "python3 -c 'import sched; print(sched._MISSING is not None)'"


def rename(side: Side) -> None:
    """A constant in four places, a line elsewhere, a note, a command, and a look at it all."""
    side.look()
    side.search(OLD)
    side.rename("sched.py", side.read("sched.py"), OLD, NEW)
    side.change("getopt.py", side.read("getopt.py"), [OTHER])
    side.write("NOTES.md", NOTE)
    side.run(RUN)
    side.read("sched.py")
    side.search(NEW)
    side.read("NOTES.md")


def repair(side: Side) -> None:
    """Three files are read, and a line of each is changed."""
    side.look()
    for name, pair in REPAIRS.items():
        side.change(name, side.read(name), [pair])
    side.run("python3 -c 'import sched, getopt, fnmatch'")


def review(side: Side) -> None:
    """Everything is read and nothing changed: what marks cost for nothing."""
    side.look()
    side.search("^def ")
    for name in FILES:
        side.read(name)


def rewrite(side: Side) -> None:
    """One file is read, and its longest function written anew."""
    shown = side.read("getopt.py")
    side.change("getopt.py", shown, [longest("getopt.py")])
    side.run("python3 -c 'import getopt'")


def longest(name: str) -> tuple[str, str]:
    """The longest function of a module, and the same with a remark behind most lines."""
    text = Path(sched.__file__).with_name(name).read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    node = max(functions, key=lambda one: (one.end_lineno or 0) - one.lineno)
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
    new = [f"{line}  # looked at" if line[-1:].isalnum() else line for line in lines]
    return "\n".join(lines), "\n".join(new)


SCRIPTS: dict[str, Callable[[Side], None]] = {
    "rename": rename, "repair": repair, "rewrite": rewrite, "review": review,
}  # fmt: skip


def fresh(folder: str) -> Path:
    root = Path(tempfile.mkdtemp(dir=folder))
    for name in FILES:
        shutil.copy(Path(sched.__file__).with_name(name), root)
    return root


def sides(root: Callable[[], Path]) -> dict[str, Side]:
    """Each set of tools, in a folder of its own."""
    made: dict[str, Side] = {"deepagents": Theirs(root())}
    made |= {style: Ours(root(), style, SIX) for style in STYLES}
    made["lines, whole toolset"] = Ours(root(), None, (), toolset("lines"))
    return made | {f"{name}, whole toolset": Quoting(root(), name) for name in FORMS}


def played(script: Callable[[Side], None]) -> dict[str, Told]:
    """What was said in one session with each set of tools."""
    with tempfile.TemporaryDirectory() as folder:
        every = sides(lambda: fresh(folder))
        for side in every.values():
            script(side)
        return {name: side.told for name, side in every.items()}


def rows(script: Callable[[Side], None], *, quick: bool = False) -> dict[str, dict[str, list[int]]]:
    """By tokenizer and side, the numbers of `row`."""
    every = played(script)
    texts = [text for told in every.values() for text in all_of(told)]
    found = {}
    for tokenizer, counts in counted(texts, quick=quick).items():
        rest = iter(counts)
        found[tokenizer] = {name: row(told, rest) for name, told in every.items()}
    return found


def totals(name: str, *, quick: bool = False) -> Iterator[tuple[str, dict[str, dict[str, int]]]]:
    """What is counted of a session, and by tokenizer and side how much."""
    found = rows(SCRIPTS[name], quick=quick)
    for at, what in ((-2, "input of all calls"), (-1, BILLED)):
        yield (
            what,
            {
                tokenizer: {side: row[at] for side, row in each.items()}
                for tokenizer, each in found.items()
            },
        )


def main() -> None:
    for name, script in SCRIPTS.items():
        for tokenizer, each in rows(script).items():
            print(
                f"{name}, {tokenizer}: definitions, calls, arguments, results, input of all calls, "
                f"{BILLED}"
            )
            peer = each["deepagents"]
            for side, numbers in each.items():
                *_, results, whole, billed = (
                    own / other for own, other in zip(numbers, peer, strict=True)
                )
                share = f"results {results:.2f}x, session {whole:.2f}x, billed {billed:.2f}x"
                print(f"  {side:22}", *(f"{n:7,}" for n in numbers), share)


def all_of(told: Told) -> list[str]:
    return [*told.definitions, *told.arguments, *told.results]


def row(told: Told, counts: Iterator[int]) -> list[int]:
    """The numbers of one side; takes its texts' counts."""
    definitions, said, results = (
        [next(counts) for _ in texts] for texts in (told.definitions, told.arguments, told.results)
    )
    sent, cached, whole, billed = sum(definitions), 0, 0, 0.0
    for argument, result in zip(said, results, strict=True):
        whole += sent
        billed += OUTPUT * argument + CACHE_WRITE * (sent - cached) + CACHE_READ * cached
        cached, sent = sent, sent + argument + result
    return [sum(definitions), len(said), sum(said), sum(results), whole, round(billed)]


if __name__ == "__main__":
    main()
