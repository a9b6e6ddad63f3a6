"""What is sent to a place: this package, as a wheel has it."""

import hashlib
import io
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import fsagent_tools
from fsagent_tools.errors import ConfigInvalid

_REQUIRED = re.compile(r"^Requires-Dist: ([^;\n]+)$", re.MULTILINE)  # without any extra


@dataclass(frozen=True)
class Package:
    """id: a hash of it. wheel: b"" where pip gets what `requirements` name."""

    id: str
    wheel: bytes
    requirements: str


@cache
def package(named: Path | str | None) -> Package:
    """Of this version, of a wheel, or of a requirement for pip. Raises `ConfigInvalid`."""
    if isinstance(named, str):
        return Package(_hash(named.encode()), b"", json.dumps([named]))
    try:
        wheel = named.read_bytes() if named else _own()
        with ZipFile(io.BytesIO(wheel)) as files:
            (about,) = (n for n in files.namelist() if n.endswith(".dist-info/METADATA"))
            required = _REQUIRED.findall(files.read(about).decode())
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"{named} is no wheel of this package: {error}.") from error
    return Package(_hash(wheel), wheel, json.dumps(required))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _own() -> bytes:
    """The same bytes for the same files."""
    made, own = io.BytesIO(), distribution("fsagent-tools")
    with ZipFile(made, "w", ZIP_DEFLATED, compresslevel=9) as files:
        about = f"fsagent_tools-{own.version}.dist-info/METADATA"
        files.writestr(ZipInfo(about), own.read_text("METADATA") or "")
        for package in map(Path, (fsagent_tools.__file__, __file__)):
            for path in sorted(package.parent.rglob("*")):
                name = path.relative_to(package.parents[1]).as_posix()
                if path.is_file() and path.suffix != ".md" and "__pycache__" not in name:
                    info = ZipInfo(name)
                    info.compress_type = ZIP_DEFLATED
                    files.writestr(info, path.read_bytes())
    return made.getvalue()
