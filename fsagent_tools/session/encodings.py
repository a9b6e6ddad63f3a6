"""The encodings that a host or a project has for files, for texts that do not tell their own."""

import re
from collections.abc import Mapping
from contextlib import closing

from fsagent_tools.encoding import lookup
from fsagent_tools.errors import ConfigInvalid, EncodingError, InvalidGlob, ToolError
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.globs import GLOBSTAR, Glob

_SETTINGS = ".editorconfig"
_MOST = 100_000  # bytes of one
_CHARSETS = {"latin1": "iso8859-1", "utf-8": "utf-8"}  # the others begin with a mark
_LINE = re.compile(r"\s*(?:\[(?P<glob>.+)\]|(?P<key>[^#;=\s]+)\s*[=:]\s*(?P<value>\S*))\s*")


class Encodings:
    """Finds the encoding of a file by its path from the root.

    rules: glob -> encoding, the first that matches; then `charset` of .editorconfig. A glob without
    a slash holds at any depth. Raises `ConfigInvalid`.
    """

    def __init__(self, files: GuardedFiles, rules: Mapping[str, str]) -> None:
        self._files = files
        self._rules = [(_glob(pattern), _codec(pattern, name)) for pattern, name in rules.items()]

    def of(self, relative: str) -> str:
        """ "" where nobody says."""
        for glob, encoding in self._rules:
            if glob.matches(relative):
                return encoding
        return self._charset(relative)

    def _charset(self, relative: str) -> str:
        """What the nearest .editorconfig that says it has for the file."""
        folder = relative
        while folder:
            folder = folder.rpartition("/")[0]
            text = self._text(f"{folder}/{_SETTINGS}" if folder else _SETTINGS)
            found, is_root = charset_of(text, relative.removeprefix(f"{folder}/"))
            if found or is_root:
                return found
        return ""

    def _text(self, path: str) -> str:
        try:
            with closing(self._files), self._files.open(path) as file:
                return file.read(_MOST).decode("utf-8", "replace")
        except ToolError:  # there is none, or it is not to be read
            return ""


def charset_of(settings: str, path: str) -> tuple[str, bool]:
    """What an .editorconfig has for a path beneath it, "" for nothing; whether it is the topmost.

    A later section wins over an earlier one.
    """
    found, holds, is_root, begun = "", False, False, False
    for match in filter(None, map(_LINE.fullmatch, settings.splitlines())):
        if match["glob"]:
            begun, holds = True, _matches(match["glob"], path)
        elif match["key"].lower() == "charset" and holds:
            found = _CHARSETS.get(match["value"].lower(), "")
        elif match["key"].lower() == "root" and not begun:
            is_root = match["value"].lower() == "true"
    return found, is_root


def _matches(pattern: str, path: str) -> bool:
    inner = pattern.removeprefix("/") if "/" in pattern else f"{GLOBSTAR}/{pattern}"
    try:
        return Glob(inner).matches(path)
    except InvalidGlob:
        return False


def _glob(pattern: str) -> Glob:
    try:
        return Glob(pattern.removeprefix("/") if "/" in pattern else f"{GLOBSTAR}/{pattern}")
    except InvalidGlob as error:
        raise ConfigInvalid(f"encodings: {error.message}", hint=error.hint) from None


def _codec(pattern: str, name: str) -> str:
    try:
        return lookup(name)
    except EncodingError as error:
        raise ConfigInvalid(f"encodings[{pattern!r}]: {error.message}", hint=error.hint) from None
