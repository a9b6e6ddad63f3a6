"""Path rules: globs that are compiled once and tried on real paths."""

import re
from functools import lru_cache

from fsagent_tools.errors import ConfigInvalid, InvalidGlob
from fsagent_tools.globs import GLOBSTAR, Glob


def fits(glob: Glob, relative: str, absolute: str) -> bool:
    """Relative patterns are about paths from the root: what lies above it does not matter."""
    if glob.pattern[0] == "{":  # may hold both
        return glob.matches(relative) or glob.matches(absolute)
    return glob.matches(absolute if glob.pattern[0] == "/" else relative)


def anywhere(pattern: str) -> str:
    return pattern if "/" in pattern.rstrip("/") else f"{GLOBSTAR}/{pattern}"


@lru_cache(maxsize=64)
def compiled(name: str, patterns: tuple[str, ...]) -> list[Glob]:
    globs = []
    for pattern in patterns:
        if ".." in re.split(r"[/{},]", pattern):
            raise ConfigInvalid(f"{name}: {pattern!r} contains '..'.", hint="Use a path without.")
        try:
            globs.append(Glob.covering(pattern))
        except InvalidGlob as error:
            raise ConfigInvalid(f"{name}: {error}") from None
    return globs
