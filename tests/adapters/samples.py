"""Arguments for every tool of every toolset, by parameter, so that a new tool is tested at once."""

from fsagent_tools.lines.ids import IdSet, mint
from fsagent_tools.testing import call, line_id

PRICES = "shop/prices.py"
OLD = b"    return int(whole) * 100 + int(cents or 0)"  # its line 7
NEW = '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
ID = mint(7, [OLD], IdSet())

BY_PARAMETER = {
    "file_path": PRICES,
    "path": "shop",
    "content": "text\n",
    "old_string": "    whole, _, cents",
    "new_string": "    whole, dot, cents",
    "search_string": "whole",
    "replace_string": "euros",
    "edits": [{"oldText": "    whole, _, cents", "newText": "    whole, dot, cents"}],
    "paths": [PRICES, "README.md"],
    "changes": [{"line_id": ID, "new_content": NEW}],
    "pattern": "def parse",
    "source": PRICES,
    "source_path": PRICES,
    "destination_path": "shop/moved.py",
    "text": "text\n",
    "destination": "shop/moved.py",
    "command": "true",
    "url": "http://127.0.0.1:9/",
    "query": "shop",
    "line": 1,
    "name": "parse",
    "new_name": "renamed",
    "input": "*** Begin Patch\n*** Add File: shop/new.py\n+text\n*** End Patch",
}
GLOB = {"pattern": "**/*.py"}
BY_TOOL = {
    "glob": GLOB,
    "Glob": GLOB,
    "find": GLOB,
    "insert": {"path": PRICES},
    "rename": {"line": "4"},
    "edit": {"path": PRICES},
    "mkdir": {"path": "shop/new"},
    "rm": {"path": PRICES},
    "delete": {"file_path": PRICES},
    "str_replace_based_edit_tool": {"command": "view", "path": PRICES},
    "memory": {"command": "create", "path": "/memories/a.md", "file_text": "text\n"},
    "shell": {"command": ["true"]},
    "file_search": GLOB,
    "search_files": GLOB,
    "create_directory": {"path": "shop/new"},
    **{n: {"path": PRICES} for n in ("read_text_file", "read_media_file", "edit_file")},
    "write_file": {"path": "shop/new.py"},
}


def arguments(tool):
    """What a model would send to this core tool to do something in the demo project."""
    own = BY_TOOL.get(tool.name, {})
    missing = {n for n in tool.schema.get("required", ()) if n not in {**BY_PARAMETER, **own}}
    assert not missing, f"tests/adapters/samples.py knows no {missing} for {tool.name}"
    needed = {n: own.get(n) or BY_PARAMETER[n] for n in tool.schema.get("required", ())}
    return needed | {n: v for n, v in own.items() if n in tool.schema["properties"]}


def fix(messages):
    change = {"line_id": line_id(messages, "int(cents or 0)"), "new_content": NEW}
    return call("edit_lines", file_path=PRICES, changes=[change])


TURNS = [
    [call("read", file_path=PRICES), call("read", file_path="nope.py")],
    call("edit_lines", file_path=PRICES, changes=[{"line_id": "000000", "new_content": ""}]),
    fix,
    "Prices are fixed.",
]


def fixed(shop):
    return NEW in (shop / PRICES).read_text()


def parallel(messages):
    """Two calls of one turn, each changing another line."""
    lines = {"int(cents or 0)": NEW, "cents // 100": '    return "changed"'}
    changes = [
        {"line_id": line_id(messages, old), "new_content": new} for old, new in lines.items()
    ]
    return [call("edit_lines", file_path=PRICES, changes=[one]) for one in changes]
