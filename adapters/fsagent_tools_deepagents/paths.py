"""deepagents' absolute paths, whose "/" is the workspace's root."""

from pathlib import Path

from fsagent_tools import ToolError
from fsagent_tools.errors import ConfigInvalid, InvalidPath

_ERRORS = {
    "FILE_NOT_FOUND": "file_not_found",
    "NOT_A_FILE": "is_directory",
    "PERMISSION_DENIED": "permission_denied",
    "PATH_OUTSIDE_WORKSPACE": "permission_denied",
    "PATH_DENIED": "permission_denied",
    "ACTION_NOT_ALLOWED": "permission_denied",
    "APPROVAL_DENIED": "permission_denied",
    "READONLY": "permission_denied",
    "FILE_READ_ERROR": "permission_denied",
    "FILE_WRITE_ERROR": "permission_denied",
}
_TELLS = {  # what the middleware of deepagents and its users look for
    "FILE_NOT_FOUND": "File not found",
    "STRING_NOT_FOUND": "String not found in file",
    "MULTIPLE_MATCHES": "String occurs multiple times",
}


class Paths:
    """Both ways between deepagents' paths and those from the root of a workspace.

    A path beneath the root's real place on disk is taken as that, and answered in that form; any
    other absolute path counts from the root.
    """

    def __init__(self, root: Path) -> None:
        self._real = root.as_posix()

    def own(self, path: str) -> str:
        """From the root. Raises `InvalidPath` for a relative path."""
        if not path.startswith("/"):
            raise InvalidPath(f"{path!r} is not absolute.", hint="Paths begin with /.")
        rest = path.removeprefix(self._real) if self._is_real(path) else path
        return rest.strip("/") or "."

    def told(self, own: str, asked: str) -> str:
        """As `asked` was given: with the real root, or with "/" as the root."""
        rest = "" if own == "." else f"/{own}"
        return (self._real if self._is_real(asked) else "") + rest or "/"

    def _is_real(self, path: str) -> bool:
        return path == self._real or path.startswith(self._real + "/")


def code_of(error: ToolError) -> str:
    """One of deepagents' `FileOperationError`s."""
    _ = text_of(error)
    return _ERRORS.get(error.code, "invalid_path")


def text_of(error: ToolError) -> str:
    """For the model. Raises the host's own mistake, such as a malformed answer of its `approve`."""
    if isinstance(error, ConfigInvalid):
        raise error
    told = _TELLS.get(error.code)
    return f"{told}: {error}" if told else str(error)
