"""Where what outlives a process is kept: outside the root, and readable by this user only."""

import os
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

STATE = "/fsagent"  # ends the path of all that is kept so


def state_home() -> str:
    """`fsagent` in `$XDG_STATE_HOME`, default `~/.local/state`. Raises `RuntimeError`: no home."""
    return _home(os.environ.get("XDG_STATE_HOME") or "~/.local/state", os.environ.get("HOME"))


@lru_cache(maxsize=64)
def _home(given: str, _: str | None) -> str:
    return f"{Path(given).expanduser().resolve()}{STATE}"


def state_folder(root: str, name: str, home: str = "", *, inside: bool = False) -> str | None:
    """The directory `name` for what belongs to `root` (links resolved), made if it is missing.

    home: that of `Workspace(state=...)`, "" for this user's own. None where it would lie inside the
    root (inside: it may), or cannot be made or written.
    """
    try:
        if home and not Path(home).is_dir():  # a volume that is not mounted any more
            return None
        home = home or state_home()
        if not inside and f"{home}/".startswith(f"{root.rstrip('/')}/"):
            return None
        folder = f"{home}/{root_name(root)}/{name}"
        if not os.access(folder, os.W_OK):
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(folder).chmod(0o700)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def root_name(root: str) -> str:
    """Of a root (links resolved), among those whose state is kept in one place."""
    return sha256(os.fsencode(root)).hexdigest()[:16]
