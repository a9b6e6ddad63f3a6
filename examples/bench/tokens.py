"""Tokens per line of every style of line IDs, beside numbered lines, on real code.

python examples/bench/tokens.py [FILE ...]: counts with cl100k, where TIKTOKEN_CACHE_DIR has its
table (llama-index-core ships it in _static/tiktoken_cache), and with every command named in
FSAGENT_COUNTERS (semicolons between), which reads a JSON list of texts and prints their counts.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from fsagent_tools import Workspace, tokens, toolset
from fsagent_tools.lines.styles import STYLES

Counts = list[int]


def forms(path: Path) -> dict[str, str]:
    """The first 2,000 lines of a file as each reader shows them."""
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(path.read_text().split("\n")[:2000])
        Path(folder, "a.py").write_text(text)
        shown = {"bare": text}
        for style in STYLES:
            tools = toolset("workspace").bind(Workspace(folder, line_ids=style))
            call = {"file_path": "a.py"}
            shown[style] = tools["read"].call(call, max_bytes=1 << 30).text
        shown["cat -n"] = "\n".join(f"{n:6}\t{line}" for n, line in enumerate(text.split("\n"), 1))
    return shown


def counted(texts: list[str]) -> dict[str, Counts]:
    """Tokens of each text by every tokenizer at hand."""
    counts: dict[str, Counts] = {}
    if count := tokens.counter():
        counts["cl100k"] = [count(text) for text in texts]
    for command in filter(None, os.environ.get("FSAGENT_COUNTERS", "").split(";")):
        given = json.dumps(texts)
        run = subprocess.run(  # the user's own command
            command, shell=True, input=given, capture_output=True, text=True, check=True
        )
        counts[command.split()[-1]] = json.loads(run.stdout)
    return counts


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]]
    paths = paths or sorted(Path(statistics.__file__).parent.glob("[a-e]*.py"))[:40]
    every = [forms(path) for path in paths]
    lines = sum(shown["bare"].count("\n") + 1 for shown in every)
    names = list(every[0])
    counts = counted([shown[name] for shown in every for name in names])
    print(f"{lines:,} lines of {len(paths)} files; tokens a line more than bare text")
    for tokenizer, found in counts.items():
        sums = {name: sum(found[n :: len(names)]) for n, name in enumerate(names)}
        more = {name: (total - sums["bare"]) / lines for name, total in sums.items()}
        told = ", ".join(f"{name} {extra:+.2f}" for name, extra in more.items() if name != "bare")
        print(f"{tokenizer}: {told}")


if __name__ == "__main__":
    main()
