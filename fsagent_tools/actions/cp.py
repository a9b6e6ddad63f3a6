"""cp: copy."""

from dataclasses import dataclass

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action


class CpParams(Params):
    source: str = Field(description="File or directory to copy.")
    destination: str = Field(description="Full path of the copy, name included.")
    overwrite: bool = Field(False, description="Replace an existing file.")


@dataclass(frozen=True)
class CopiedTree:
    """What was copied; `skipped` are links that lead outside and were left out."""

    source: str
    destination: str
    files: int
    size_bytes: int
    skipped: list[str]

    def render(self) -> str:
        plural = "" if self.files == 1 else "s"
        text = (
            f"Copied {display(self.source)} to {display(self.destination)} "
            f"({self.files:,} file{plural}, {self.size_bytes:,} bytes)"
        )
        if self.skipped:
            names = ", ".join(display(name) for name in self.skipped[:5])
            text += f"\nLeft out {len(self.skipped):,} links that lead outside: {names}"
        return text


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def cp(workspace: Workspace, p: CpParams) -> CopiedTree:
    """Copy a file or directory with its times and permissions."""
    done, copied = workspace.copy(p.source, p.destination, p.overwrite)
    return CopiedTree(
        printable(done.source.told),
        printable(done.destination.told),
        copied.files,
        copied.size,
        [printable(name) for name in copied.skipped],
    )
