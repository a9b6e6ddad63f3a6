"""codex: the program's own apply_patch on a folder; agents read there by the shell."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from serve import serve

root, program = Path(sys.argv[1]), sys.argv[2]


def edit(arguments: dict[str, Any]) -> tuple[bool, str]:
    command = (program, "--codex-run-as-apply-patch", arguments["patch"])
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode == 0, run.stdout + run.stderr


serve(lambda path: (root / path).read_bytes().decode(), edit)
