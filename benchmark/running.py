"""A pack at work in a folder: `read` and `edit`, ours in this process, a peer's in its own."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmark.dialects.base import Arguments
from benchmark.environments import environment
from benchmark.packs import Own, Peer
from fsagent_tools import Workspace, toolset
from fsagent_tools.text import unclipped


class OwnTools:
    """Our tools, called as an adapter calls them."""

    def __init__(self, pack: Own, root: Path) -> None:
        self.pack = pack
        self.workspace = Workspace(root, line_ids=pack.style)
        self.tools = toolset(pack.toolset).bind(self.workspace)

    def read(self, path: str) -> str:
        """The whole file, without what a read says about itself: its pages, then each long line."""
        if self.pack.edit != "edit_lines":
            asked = {**self.pack.reading, "file_path": path}
            return self.tools[self.pack.read].call(asked).text
        rows: list[str] = []
        more = True
        while more:
            found, total = self._rows(path, offset=len(rows) + 1)
            rows += found
            more = len(rows) < total  # one long line that is cut is no page more
        for number, row in enumerate(rows, 1):
            if unclipped(row) != row:
                rows[number - 1 : number], _ = self._rows(path, offset=number, limit=1)
        return "\n".join(rows)

    def _rows(self, path: str, **window: int) -> tuple[list[str], int]:
        """What one call shows, and how many lines the file has."""
        out = self.tools[self.pack.read].call({"file_path": path, **window})
        if not out.ok:
            raise ValueError(out.text)
        return str(out.data["content"]).split("\n"), int(out.data["total_lines"])

    def edit(self, arguments: Arguments) -> tuple[bool, str]:
        out = self.tools[self.pack.edit].call(arguments)
        return out.ok, out.text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workspace.close()


@cache
def offline() -> tuple[str, ...]:
    """What takes the network from a command, where this machine has it."""
    words = ("unshare", "--map-root-user", "--net")
    try:
        return words if subprocess.run((*words, "true"), check=False).returncode == 0 else ()
    except OSError:
        return ()


class PeerTools:
    """A driver in its own process and environment, without network; one line for each call."""

    def __init__(self, peer: Peer, root: Path) -> None:
        places = {"env": environment(peer), "root": root, "python": sys.executable}
        command = (*offline(), *(word.format(**places) for word in peer.command))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **order: Any) -> tuple[bool, str]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"The driver ended with {self.process.wait()}: {self.process.args!r}"
            )
        answer: dict[str, Any] = json.loads(line)
        return bool(answer["ok"]), str(answer["text"])

    def read(self, path: str) -> str:
        return self.ask(do="read", path=path)[1]

    def edit(self, arguments: Arguments) -> tuple[bool, str]:
        return self.ask(do="edit", arguments=arguments)

    def define(self) -> dict[str, str]:
        """What a model is told of each tool, by name; empty where the package does not say."""
        ok, text = self.ask(do="define")
        if not ok:
            raise RuntimeError(text)
        told: dict[str, str] = json.loads(text)
        return told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def started(pack: Own | Peer, root: Path) -> OwnTools | PeerTools:
    return OwnTools(pack, root) if isinstance(pack, Own) else PeerTools(pack, root)
