"""What a run was made on, for the heading of its table."""

import os
import platform
from pathlib import Path

import fsagent_tools


def machine() -> str:
    """fsagent-tools' version, Python, processor and number of cores."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    parts = (fsagent_tools.__version__, platform.python_version(), os.cpu_count())
    return "fsagent-tools {}, Python {}, {} cores".format(*parts) + f" ({model})."
