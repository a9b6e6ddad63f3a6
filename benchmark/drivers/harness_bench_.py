"""Tasks of a checkout of harness-bench-fast, for a program that does not import it.

python harness_bench_.py REPO list | lay ID FOLDER | check ID FOLDER. The first writes JSON; `lay`
writes the files that a task begins with; `check` exits with 0 for a folder that solves it.
"""

import json
import sys
from pathlib import Path


def main(repo: str, verb: str, *rest: str) -> int:
    sys.path.insert(0, repo)
    from harness_bench.tasks import ALL_TASKS

    if verb == "list":
        print(json.dumps([{"id": task.id, "prompt": task.prompt} for task in ALL_TASKS]))
        return 0
    name, folder = rest
    task = next(task for task in ALL_TASKS if task.id == name)
    if verb == "lay":
        task.setup(Path(folder))
        return 0
    return 0 if task.verify(Path(folder)).passed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
