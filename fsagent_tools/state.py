"""Where what outlives a process is kept: outside the root, and readable by this user only."""

import os
from hashlib import sha256
from pathlib import Path


def state_home() -> Path:
    """`fsagent` in `$XDG_STATE_HOME`, default `~/.local/state`. Raises `RuntimeError`: no home."""
    home = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state")
    return home.expanduser().resolve() / "fsagent"


def state_folder(root: Path, name: str) -> Path | None:
    """The directory `name` for what belongs to `root` (links resolved), made if it is missing.

    None where it would lie inside the root, or cannot be made or written.
    """
    try:
        home = state_home()
        if home.is_relative_to(root):
            return None
        folder = home / sha256(os.fsencode(root)).hexdigest()[:16] / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def own_state() -> tuple[str, ...]:
    """The directory of all that is kept so, closed to commands; none where there is no home."""
    try:
        return (str(state_home()),)
    except (OSError, RuntimeError):
        return ()
