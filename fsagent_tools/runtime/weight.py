"""Data from outside, weighed before it becomes objects."""

import re

LARGEST_MESSAGE = 16 << 20  # bytes of one message; a command's output has 10 MB at most
_WIDE = 4 << 20  # bytes of one with characters outside ASCII, which may take four times as much
_MANY = 200_000  # values of one: an empty list takes 2 bytes on the way, and 56 here
_DOTS = 200  # a TOML line with more may be one key: quadratic time, and 4 GB for one of 64 kB
# one that does not end goes to the end of all: else each quote in it would be tried as a beginning
_STRING = re.compile(rb'(?s)"(?:[^"\\]|\\.)*+(?:"|\\?\Z)')


def check_weight(content: bytes | bytearray) -> None:
    """Raise `ValueError` for what would take much more memory as objects than it has bytes."""
    wide = len(content) > _WIDE and not (content.isascii() and b"\\u" not in content)
    if wide or len(content) > LARGEST_MESSAGE:
        raise ValueError(f"it is larger than {(_WIDE if wide else LARGEST_MESSAGE) >> 20} MB")
    if _values(content) > _MANY and _values(_STRING.sub(b"", content)) > _MANY:
        raise ValueError(f"it has more than {_MANY:,} values")


def _values(content: bytes | bytearray) -> int:
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def is_slow_toml(text: str) -> bool:
    return any(line.count(".") > _DOTS for line in text.splitlines())
