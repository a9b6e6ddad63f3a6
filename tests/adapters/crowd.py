"""A job on a Ray cluster: agents that each add lines to a file which they share with others.

python crowd.py ADDRESS NODES(comma) PATHS(comma) OUT FIRST AGENTS LINES: OUT tells as JSON what was
acknowledged, and what was found that may have been.
"""

import asyncio
import json
import logging
import re
import sys
from pathlib import Path

import ray

from fsagent_tools import select_tools
from fsagent_tools_ray import RayWorkspaces

FILE = {"file_path": "shared.txt"}


async def agent(tools, name, lines, found):
    turn = 0
    while turn < lines:
        text = f"{name} {turn}"
        shown = await tools["read"].acall(FILE)
        if not shown.ok:
            continue
        if f"\t{text}\n" in f"{shown.text}\n":  # an edit whose answer was lost
            found["unknown"].append(text)
            turn += 1
            continue
        last = re.findall(r"^[a-z.]+\t.*", shown.text, re.M)[-1]
        change = {"after_line_id": last, "new_content": text}
        done = await tools["edit_lines"].acall({**FILE, "changes": [change]})
        if done.ok:
            found["acknowledged"].append(text)
            turn += 1
        found["codes"][done.code] = found["codes"].get(done.code, 0) + 1


async def main(address, nodes, paths, out, first, agents, lines):
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    nodes, paths = nodes.split(","), paths.split(",")
    places = RayWorkspaces()
    found = {"acknowledged": [], "unknown": [], "codes": {}}
    working = []
    for number in range(int(first), int(first) + int(agents)):
        seat = number % len(paths)
        where = places.at(paths[seat], nodes[seat % len(nodes)])
        tools = {t.name: t for t in await asyncio.to_thread(select_tools, where)}
        working.append(asyncio.create_task(agent(tools, f"agent {number}", int(lines), found)))
    await asyncio.gather(*working)
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
