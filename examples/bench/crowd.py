"""Many workspaces in one process: reads and edits a second beside one workspace, and memory.

`crowd.py [workspaces] [threads]`; ratios of interleaved rounds, of which the median is told.
"""

import gc
import statistics
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from fsagent_tools import Workspace, select_tools

ROUNDS, PAIRS = 5, 2000


def pairs_a_second(root: Path, places: list[tuple[str, str]], threads: int) -> float:
    """Read-and-edit pairs, each in the workspace and file whose turn it is."""
    tools = {tool.name: tool for tool in select_tools(lambda run: root / str(run))}
    turns, lock = iter(range(PAIRS)), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                turn = next(turns, None)
            if turn is None:
                return
            run, path = places[turn % len(places)]
            with tools["read"].within(run) as read, tools["edit_lines"].within(run) as edit:
                shown = read.call({"file_path": path}).text
                change = {"line_id": shown.splitlines()[0], "new_content": f"turn {turn}"}
                done = edit.call({"file_path": path, "changes": [change]})
            assert done.ok, done.text

    crowd = [threading.Thread(target=work) for _ in range(threads)]
    started = time.perf_counter()
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    elapsed = time.perf_counter() - started
    pool = tools["read"].pool
    assert pool
    pool.close()
    return PAIRS / elapsed


def kilobytes_each(root: Path, names: list[str]) -> float:
    """What an open workspace takes in which a file was read and edited."""
    before, held = resident(), []
    for name in names:
        held.append(Workspace(root / name))
        tools = {tool.name: tool for tool in select_tools(held[-1])}
        shown = tools["read"].call({"file_path": "a.txt"}).text
        change = {"line_id": shown.splitlines()[0], "new_content": "held"}
        assert tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]}).ok
    taken = (resident() - before) / len(names) / 1000
    for workspace in held:
        workspace.close()
    return taken


def resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    count, threads = (int(word) for word in (*sys.argv[1:], 1000, 64)[:2])
    with TemporaryDirectory() as temporary:
        root = Path(temporary)
        many = [(str(number), "a.txt") for number in range(count)]
        alone = [("one", f"{number}.txt") for number in range(count)]
        for folder, name in (*many, *alone):
            (root / folder).mkdir(exist_ok=True)
            (root / folder / name).write_text("first\nsecond\n")
        kilobytes_each(root, [name for name, _ in many[: count // 10]])  # what all share
        held = kilobytes_each(root, [name for name, _ in many[count // 10 : count // 2]])
        print(f"{held:.0f} kB an open workspace")
        pairs_a_second(root, many, threads), pairs_a_second(root, alone, threads)  # warm
        ratios = []
        for _ in range(ROUNDS):
            crowd, one = pairs_a_second(root, many, threads), pairs_a_second(root, alone, threads)
            ratios.append(crowd / one)
            print(f"{crowd:.0f} pairs/s in {count} workspaces, {one:.0f} in one: {ratios[-1]:.2f}")
        print(f"median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
