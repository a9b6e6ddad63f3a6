"""Generated files: what the benchmark reads, edits and searches."""

import random
from pathlib import Path

WIDE = "\N{PARTY POPPER}"  # outside the BMP: a Python string with it takes four bytes a character
WORDS = ("value", "index", "total", "result", "count", "parser", "handler", "buffer", "token")


def source(lines: int, *, wide: bool = False, seed: int = 1) -> str:
    """Text like code: functions of 20 lines, blank lines and lone brackets among them."""
    rng = random.Random(seed)
    text = []
    for number in range(lines):
        match number % 20:
            case 0:
                text.append(f"def {rng.choice(WORDS)}_{number}(self, {rng.choice(WORDS)}):")
            case 18:
                text.append("    }")
            case 19:
                text.append("")
            case _:
                text.append(f"    self.{rng.choice(WORDS)} = {rng.choice(WORDS)} + {number}")
    if wide:
        text[lines // 2] += f"  # {WIDE}"
    return "\n".join(text) + "\n"


def tree(folder: Path, files: int) -> None:
    """`files` small files in nested folders, half of them Python; few hold the word `needle`."""
    rng = random.Random(2)
    for number in range(files):
        place = folder / f"pkg{number % 50}" / f"mod{number // 50 % 40}"
        if number < 2000:
            place.mkdir(parents=True, exist_ok=True)
        ending = "py" if number % 2 else "txt"
        body = source(30, seed=rng.randrange(1000))
        if number % 10_000 == 7:
            body += "the needle is here\n"
        (place / f"file{number}.{ending}").write_text(body)


def log(path: Path, size: int) -> int:
    """A log of about `size` bytes, whole lines of it; returns their number."""
    block = "".join(
        f"2026-01-01T00:00:00 INFO worker-{n % 16} handled request {n:08d} in {n % 997} ms\n"
        for n in range(20_000)
    ).encode()
    blocks, rest = divmod(size, len(block))
    part = block[: block.rfind(b"\n", 0, rest) + 1]
    with path.open("wb") as file:
        for _ in range(blocks):
            file.write(block)
        file.write(part)
    return blocks * 20_000 + part.count(b"\n")
