"""What the peers do for the same call, through their own public functions."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.backends.utils import format_content_with_line_numbers
from deepagents.middleware.filesystem import FilesystemMiddleware
from pydantic_ai.workspaces import LocalWorkspaceBackend, Workspace
from pydantic_ai_backends import create_console_toolset, format_hashline_output

LARGE_MB = 10**6


class DeepAgents:
    """Its file system backend and the functions of its tools, without LangChain's own overhead."""

    def __init__(self, root: Path) -> None:
        self.backend = FilesystemBackend(root, virtual_mode=True, max_file_size_mb=LARGE_MB)
        tools = {tool.name: tool for tool in FilesystemMiddleware(backend=self.backend).tools}
        self._read: Any = tools["read_file"].func
        self._runtime = SimpleNamespace(tool_call_id="1")

    def read(self, name: str, offset: int = 0, limit: int = 2000) -> str:
        message = self._read(
            file_path=f"/{name}", runtime=self._runtime, offset=offset, limit=limit
        )
        return str(message.content)

    def read_numbered(self, name: str) -> str:
        """What its read_file gave before it left line numbers out."""
        found = self.backend.read(f"/{name}", 0, 2000).file_data
        return format_content_with_line_numbers(found["content"], 1)

    def edit(self, name: str, old: str, new: str) -> None:
        result = self.backend.edit(f"/{name}", old, new)
        assert not result.error, result.error


class Hashline:
    """pydantic-ai-backend's read_file with edit_format="hashline", without the agent around it."""

    def __init__(self, root: Path) -> None:
        tools = create_console_toolset(edit_format="hashline").tools
        self._read: Any = tools["read_file"].function
        self._context = SimpleNamespace(workspace=Workspace(LocalWorkspaceBackend(root)))
        self._loop = asyncio.new_event_loop()
        self._root = root

    def read(self, name: str) -> str:
        return str(self._loop.run_until_complete(self._read(self._context, name)))

    def format(self, name: str) -> str:
        """Only the tags, over a plain read: no tool call, no path checked."""
        text = (self._root / name).read_bytes().decode("utf-8", errors="replace")
        return format_hashline_output(text, 0, 2000)
