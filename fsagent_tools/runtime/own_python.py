"""What this very process of Python is made of, and would run at its next start."""

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def _own_python() -> Iterator[str]:
    yield str(Path(os.__file__).parent)
    if sys.prefix != sys.base_prefix:
        yield from (sys.prefix, os.path.realpath(sys.executable))
    else:
        yield from (*site.getsitepackages(), *map(sysconfig.get_path, ("platstdlib", "scripts")))
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


OWN_PYTHON = tuple(dict.fromkeys(map(os.path.realpath, _own_python())))
