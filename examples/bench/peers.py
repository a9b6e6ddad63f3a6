"""What the peers do for the same call, through their own public functions."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from deepagents.backends.filesystem import FilesystemBackend
from deepagents.backends.utils import format_content_with_line_numbers
from deepagents.middleware.filesystem import FilesystemMiddleware
from pydantic_ai_backends import format_hashline_output

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


def hashline(path: Path) -> str:
    """What pydantic-ai-backend's read_file does with edit_format="hashline"."""
    return format_hashline_output(path.read_bytes().decode("utf-8", errors="replace"), 0, 2000)
