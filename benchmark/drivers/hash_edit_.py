"""hash-edit: its harness, with the version of the file as the last read told it."""

import sys
from pathlib import Path
from typing import Any

from hash_edit import HashEditHarness
from serve import serve

harness = HashEditHarness(sys.argv[1])
versions: dict[str, str] = {}


def read(path: str) -> str:
    found = harness.read(path)
    versions[Path(path).name] = found["version"]
    return "\n".join(found["lines"])


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    path = arguments["path"]
    done = harness.edit(path, arguments["ops"], expected_version=versions[Path(path).name])
    return True, str(done)


serve(read, edit)
