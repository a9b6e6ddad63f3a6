"""What becomes of a file in each pack's hands, for the page of comparison: run, not read.

The peers may have an environment of their own: deepagents, langchain-community,
pydantic-ai-harness, mcp, and `npm install @modelcontextprotocol/server-filesystem`, whose
dist/index.js is the argument. A pack that is not there is left out.
"""

import asyncio
import os
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Edit = Callable[[str, str, str], Awaitable[object]]  # name, old, new; raises or says "error"


def ours(root: Path) -> tuple[Edit, Edit]:
    from fsagent_tools import Workspace, toolset

    tools = toolset("compact").bind(Workspace(root))

    async def edit(name: str, old: str, new: str) -> object:
        path = {"file_path": str(root / name)}
        tools["Read"].call(path)  # it edits only what was read
        return tools["Edit"].call({**path, "old_string": old, "new_string": new}).text

    async def read(name: str, *_: str) -> object:
        return tools["Read"].call({"file_path": str(root / name)}).text

    return edit, read


def deepagents(root: Path) -> tuple[Edit, Edit]:
    from deepagents.backends.filesystem import FilesystemBackend

    backend = FilesystemBackend(root, virtual_mode=True)

    async def edit(name: str, old: str, new: str) -> object:
        return backend.edit(f"/{name}", old, new)

    async def read(name: str, *_: str) -> object:
        return backend.read(f"/{name}")

    return edit, read


def community(root: Path) -> tuple[None, Edit]:
    from langchain_community.agent_toolkits import FileManagementToolkit

    tools = {t.name: t for t in FileManagementToolkit(root_dir=str(root)).get_tools()}

    async def read(name: str, *_: str) -> object:
        return tools["read_file"].invoke({"file_path": name})

    return None, read


def harness(root: Path) -> tuple[Edit, Edit]:
    from pydantic_ai.workspaces import LocalWorkspaceBackend
    from pydantic_ai_harness.filesystem import FileSystem

    backend = LocalWorkspaceBackend(root)
    toolset: Any = FileSystem(root_dir=str(root)).get_toolset()

    async def edit(name: str, old: str, new: str) -> object:
        return await toolset.edit_file(name, old, new, workspace=backend)

    async def read(name: str, *_: str) -> object:
        return await toolset.read_file(name, workspace=backend)

    return edit, read


def mcp(root: Path) -> tuple[Edit, Edit]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command="node", args=[sys.argv[1], str(root)])

    async def call(tool: str, arguments: dict[str, Any]) -> object:
        async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            result = await session.call_tool(tool, arguments)
            if getattr(result, "isError", False) or getattr(result, "is_error", False):
                raise RuntimeError(result)
            return result

    async def edit(name: str, old: str, new: str) -> object:
        edits = [{"oldText": old, "newText": new}]
        return await call("edit_file", {"path": str(root / name), "edits": edits})

    async def read(name: str, *_: str) -> object:
        return await call("read_text_file", {"path": str(root / name)})

    return edit, read


async def tried(job: Awaitable[object]) -> str:
    try:
        return str(await job)
    except Exception as error:  # noqa: BLE001 # each pack refuses in its own way
        return f"error: {type(error).__name__} {error}"


async def trial(make: Callable[[Path], Any]) -> dict[str, str]:
    found = {}
    with TemporaryDirectory() as temporary:
        outside = Path(temporary) / "secret.txt"
        outside.write_text("TOP SECRET")
        root = Path(temporary) / "root"
        root.mkdir()
        edit, read = make(root)
        (root / "link.txt").symlink_to(outside)
        found["link out refused"] = yes("TOP SECRET" not in await tried(read("link.txt")))
        if edit is None:
            return found
        for title, before, after in (
            ("CRLF kept", b"a = 1\r\nb = 2\r\n", b"a = 9\r\nb = 2\r\n"),
            ("mixed endings kept", b"a = 1\r\nb = 2\n", b"a = 9\r\nb = 2\n"),
            ("Latin-1 kept", b"a = 1\n# caf\xe9\n", b"a = 9\n# caf\xe9\n"),
            ("byte-order mark kept", b"\xef\xbb\xbfa = 1\n", b"\xef\xbb\xbfa = 9\n"),
        ):
            (root / "f.py").write_bytes(before)
            await tried(edit("f.py", "a = 1", "a = 9"))
            now = (root / "f.py").read_bytes()
            found[title] = yes(now == after)
            if now != after:
                found[title] += " (untouched)" if now == before else f" ({now!r})"
        (root / "f.py").write_bytes(b"a = 1\na = 1\n")
        await tried(edit("f.py", "a = 1", "a = 9"))
        found["ambiguous text refused"] = yes((root / "f.py").read_bytes() == b"a = 1\na = 1\n")
        (root / "f.py").write_bytes(b"a = 1\n")
        (root / "f.py").chmod(0o751)
        inode = os.stat(root / "f.py").st_ino
        await tried(edit("f.py", "a = 1", "a = 9"))
        now = os.stat(root / "f.py")
        assert (root / "f.py").read_bytes() == b"a = 9\n"
        found["replaced in one step"] = yes(now.st_ino != inode)
        found["mode kept"] = yes(stat.S_IMODE(now.st_mode) == 0o751)
    return found


def yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


if __name__ == "__main__":
    for pack in (ours, deepagents, community, harness, mcp):
        try:
            print(f"{pack.__name__}: {asyncio.run(trial(pack))}")
        except ImportError as error:
            print(f"{pack.__name__}: not here ({error})")
