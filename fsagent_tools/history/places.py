"""Where the history of a root is kept."""

import os
from pathlib import Path

from fsagent_tools.state import state_folder


def history_folder(root: Path) -> Path | None:
    """The directory for the history of `root`; None where there is no place for it."""
    folder = state_folder(os.path.realpath(root), "history")
    return Path(folder) if folder else None
