"""Settings files that other settings files name: `extends` of TypeScript and Pyright, `extend` of
Ruff. What is in packages has no path, and changes when they are installed.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsagent_tools.lsp.settings import first_text

_MOST = 100
_NAMED = re.compile(
    r"""(?:^|[{,])\s*["']?extends?["']?\s*[:=]\s*(\[[^]]*]|"[^"]*"|'[^']*')""", re.M
)
_QUOTED = re.compile(r"""["']([^"']+)["']""")


def extended(settings: Iterable[str], root: str) -> frozenset[str]:
    """The files beneath `root` that `settings` extend, directly or not; they need not be there."""
    found, ahead = set[str](), [*settings]
    while ahead and len(found) < _MOST:
        new = {path for path in _named(ahead.pop()) if path.startswith(f"{root}/")} - found
        found |= new
        ahead += new
    return frozenset(found)


def _named(path: str) -> Iterator[str]:
    file = Path(path)
    for value in _NAMED.findall(first_text(file)):
        for name in _QUOTED.findall(value):
            other = os.path.normpath(file.parent / name)
            yield from (other, f"{other}.json")
