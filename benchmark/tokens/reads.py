"""Real code as each tool shows it to a model."""

import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmark.environments import Missing
from benchmark.packs import Own, Peer
from benchmark.running import started

LIBRARY = Path(statistics.__file__).parent


def files(most: int) -> list[Path]:
    """Modules of the standard library, of a size that every tool reads in one call."""
    every = sorted(LIBRARY.glob("[a-t]*.py"))
    return [path for path in every if 2_000 < path.stat().st_size < 30_000][:most]


def shown(packs: Sequence[Own | Peer], paths: Iterable[Path]) -> dict[str, list[str]]:
    """Each file as each pack's read shows it; `bare` and `cat -n` beside them."""
    texts = [path.read_text() for path in paths]
    told = {"bare": texts, "cat -n": [numbered(text) for text in texts]}
    for pack in packs:
        try:
            told[pack.name] = [*pages(pack, texts)]
        except Missing:
            continue
    return told


def pages(pack: Own | Peer, texts: Sequence[str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, started(pack, Path(folder).resolve()) as tools:
        for number, text in enumerate(texts):
            Path(folder, f"{number}.py").write_text(text)
            yield tools.read(f"{number}.py")


def numbered(text: str) -> str:
    return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(text.split("\n"), 1))
