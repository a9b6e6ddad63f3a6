"""How large the report of 500 calls is, and how long it takes: `python examples/bench/report.py`.

The calls are real ones, on a copy of this package's sources, with contents logged: a read, an edit
of about six lines by ID, a search or a command, a refusal. Beside the time of the report stands
that of reading the same log with `json` alone, since machines differ.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

from fsagent_tools import EventLog, Policy, Tool, Workspace, toolset

CALLS, ROUNDS = 500, 9
SOURCES = Path(__file__).parents[2] / "fsagent_tools"


def calls(tools: dict[str, Tool], root: Path, chance: random.Random) -> Iterator[None]:
    """One after the other, for ever."""
    files = [path for path in sorted(root.rglob("*.py")) if len(path.read_text()) > 2_500]
    while True:
        path = chance.choice(files)
        name, start = str(path.relative_to(root)), chance.randrange(1, 40)
        read = tools["read"].call({"file_path": name, "offset": start, "limit": 40})
        yield
        first, last = (line.split("]")[0] + "]" for line in read.text.split("\n")[6:13:6])
        new = "\n".join(chance.sample(chance.choice(files).read_text().split("\n"), 6))
        change = {"start_line_id": first, "end_line_id": last, "new_content": new}
        tools["edit_lines"].call({"file_path": name, "changes": [change]})
        yield
        tools["grep"].call({"pattern": chance.choice(["def ", "raise", "import"]), "path": name})
        yield
        tools["edit_lines"].call({"file_path": name, "changes": [change]})  # IDs that are gone
        yield
        tools["bash"].call({"command": f"tail -n 20 {name}; wc -l {name}"})
        yield


def logged(folder: Path, count: int) -> EventLog:
    """A log of so many calls."""
    copytree(SOURCES, folder / "project")
    log = EventLog(folder / "log.jsonl", content=True)
    workspace = Workspace(folder / "project", log=log, policy=Policy(denied_paths=[".env"]))
    tools = toolset("workspace").bind(workspace)
    running = calls(dict(tools), folder / "project", random.Random(1))
    for _ in range(count):
        next(running)
    return log


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = logged(Path(folder), count)
        file = Path(folder, "log.jsonl")
        log.report()  # imports what it needs
        ours, plain = [], []
        for _ in range(ROUNDS):
            began = time.process_time()
            page = log.report()
            between = time.process_time()
            [json.loads(line) for line in file.read_text().splitlines()]
            ours.append(between - began)
            plain.append(time.process_time() - between)
    size, took = len(page.encode()), sorted(ours)[ROUNDS // 2]
    print(f"{count} calls, log {file.name}: report of {size:,} bytes in {took * 1000:.0f} ms;")
    print(f"reading the log as JSON takes {sorted(plain)[ROUNDS // 2] * 1000:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
