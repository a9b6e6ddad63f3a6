"""deepagents: `read_file` and `edit_file` of its file system middleware."""

import sys
from types import SimpleNamespace
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain_core.utils.function_calling import convert_to_openai_tool
from serve import packed, serve

backend = FilesystemBackend(sys.argv[1], virtual_mode=True)
tools: dict[str, Any] = {t.name: t for t in FilesystemMiddleware(backend=backend).tools}
runtime = SimpleNamespace(tool_call_id="1", state={}, config={})


def call(name: str, arguments: dict[str, Any]) -> str:
    message = tools[name].func(**arguments, runtime=runtime)
    return str(getattr(message, "content", message))


def read(path: str) -> str:
    return call("read_file", {"file_path": f"/{path}", "offset": 0, "limit": 5000})


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    given = {**arguments, "file_path": f"/{arguments.get('file_path', '')}"}
    text = call("edit_file", given)
    return not text.lower().startswith(("error", "cannot")), text


def define() -> dict[str, str]:
    every = {name: convert_to_openai_tool(tool)["function"] for name, tool in tools.items()}
    return {
        name: packed(name, one["description"], one["parameters"]) for name, one in every.items()
    }


serve(read, edit, define)
