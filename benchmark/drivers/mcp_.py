"""A file system server of the Model Context Protocol over standard input and output."""

import json
import subprocess
import sys
from itertools import count
from typing import Any

from serve import packed, serve

root, *command = sys.argv[1:]
server = subprocess.Popen(
    (*command, root),
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
)
numbers = count(1)


def say(method: str, given: dict[str, Any], *, answered: bool = True) -> dict[str, Any]:
    assert server.stdin
    assert server.stdout
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": given}
    number = next(numbers) if answered else None
    server.stdin.write(json.dumps(message | ({"id": number} if answered else {})) + "\n")
    server.stdin.flush()
    while answered:
        heard: dict[str, Any] = json.loads(server.stdout.readline())
        if heard.get("id") == number and "method" not in heard:
            return heard
    return {}


def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    heard = say("tools/call", {"name": name, "arguments": arguments})
    if "error" in heard:
        return False, str(heard["error"])
    result = heard["result"]
    text = "\n".join(part.get("text", "") for part in result["content"])
    return not result.get("isError"), text


client = {"name": "benchmark", "version": "1"}
say("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
say("notifications/initialized", {}, answered=False)


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    return call("edit_file", {**arguments, "path": f"{root}/{arguments.get('path', '')}"})


def define() -> dict[str, str]:
    tools = say("tools/list", {})["result"]["tools"]
    return {
        one["name"]: packed(one["name"], one.get("description"), one["inputSchema"])
        for one in tools
    }


serve(lambda path: call("read_text_file", {"path": f"{root}/{path}"})[1], edit, define)
