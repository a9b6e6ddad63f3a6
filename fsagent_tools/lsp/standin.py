"""A stand-in for the interpreter that Python checkers run to learn the version and the packages."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.lsp.environment import Environment
from fsagent_tools.process.temporary import PrivateDirectory

# Our interpreter, that claims to be of the project's version and to have its packages. It tells
# where these are, as data: no import of its own finds anything there.
_SCRIPT = """#!{python} -IS
import collections, sys
version, packages = {version!r}, {packages!r}
class Nowhere:
    def find_spec(self, *asked): return None
sys.path_importer_cache.update(dict.fromkeys(packages, Nowhere()))
sys.path += packages
if version:
    fields = collections.namedtuple("version_info", "major minor micro releaselevel serial")
    sys.version_info = fields(*version, 0, "final", 0)
    sys.version = "%d.%d.0 (stand-in)" % version
code = sys.argv[sys.argv.index("-c") + 1]
sys.argv = ["-c"]
exec(code)
"""

_making = Lock()
_Paths = Sequence[Path]
_made: dict[tuple[str, str, _Paths], PrivateDirectory] = {}


def stand_in(version: str, python: str, packages: tuple[Path, ...] = ()) -> Path:
    """An empty environment of that version of Python ("" for this one), kept until this process
    ends. python: the interpreter that stands in. packages: the directories it tells of.
    """
    asked = version, python, packages
    with _making:  # what two threads made at once would be removed for one of them
        made = _made.get(asked)
        if not made or not Path(made.path, "bin/python").exists():  # gone with who forked us
            made = _made[asked] = _make(*asked)
        return Path(made.path)


def _forget() -> None:
    """A forked child has no thread that would give the lock back."""
    global _making
    _making = Lock()


os.register_at_fork(after_in_child=_forget)


def _make(version: str, python: str, packages: _Paths) -> PrivateDirectory:
    made = PrivateDirectory("fsagent-python-")
    folder = Path(made.path)
    numbers = tuple(map(int, version.split("."))) if version else sys.version_info[:2]
    named = ".".join(map(str, numbers))
    own = folder / f"lib/python{named}/site-packages"
    own.mkdir(parents=True)
    (own / "told.pth").write_text("".join(f"{path}\n" for path in packages))
    (folder / "pyvenv.cfg").write_text(
        f"home = {Path(sys.base_prefix) / 'bin'}\nversion = {named}\n"
    )
    (folder / "bin").mkdir()
    script = folder / "bin/python"
    told = {"version": numbers if version else (), "packages": list(map(str, packages))}
    script.write_text(_SCRIPT.format(python=python, **told))
    script.chmod(0o755)
    return made


_Found = Mapping[str, Any]


def _ty(environment: Environment | None, standin: Path, sources: _Paths) -> _Found:
    whole = environment and environment.packages[0].name == "site-packages"  # else PDM's
    folder = environment.folder if environment and whole else standin
    found = {"python": str(folder), "extra-paths": list(map(str, sources))}
    return {"ty": {"configuration": {"environment": found}}}


def _basedpyright(environment: Environment | None, standin: Path, sources: _Paths) -> _Found:
    modes = {"typeCheckingMode": "standard", "diagnosticMode": "openFilesOnly"}
    analysis = {**modes, "extraPaths": list(map(str, sources))}
    return {"python": _interpreter(standin), "basedpyright": {"analysis": analysis}}


def _pyrefly(environment: Environment | None, standin: Path, sources: _Paths) -> _Found:
    types = {"displayTypeErrors": "force-on", "extraPaths": list(map(str, sources))}
    return {"python": {**_interpreter(standin), "pyrefly": types}}


def _interpreter(standin: Path) -> _Found:
    return {"pythonPath": f"{standin}/bin/python"}


PYTHON: Mapping[str, Callable[[Environment | None, Path, _Paths], _Found]] = {
    "ty": _ty,
    "basedpyright": _basedpyright,
    "pyrefly": _pyrefly,
}
