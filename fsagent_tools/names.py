"""Names of files: as they are compared, as they are shown, and which one a spelling means."""

import re
from collections.abc import Iterable

# What ends a line, acts on a terminal or turns the direction of reading; and lone surrogates, which
# no answer can hold. Joiners stay: names in Persian or Hindi and of emoji are not the same without.
_UNSHOWN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ESCAPE = re.compile(
    r"\\(?:([tnr])|x([01][0-9a-fA-F]|7[fF]|[89][0-9a-fA-F])|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}))"
)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r"}
_BLANKS = str.maketrans("\u00a0\u202f", "  ")  # macOS has one before AM and PM
_SPELLED = re.compile(r"[ \\]|[^\x00-\x7f]")  # what a name has that may be spelled otherwise


def display(path: str) -> str:
    """`path` in one line, with escapes for characters that cannot be seen or written there."""
    return path if path.isprintable() else _UNSHOWN.sub(lambda m: repr(m[0])[1:-1], path)


def composed(text: str) -> str:
    """`text` in the one form, of those that Unicode has, in which what looks the same is the same.

    Whoever writes a rule cannot see which form the name of a file has.
    """
    if text.isascii():
        return text
    from unicodedata import normalize  # most names need none

    return normalize("NFC", text)


def may_be_respelled(name: str) -> bool:
    """Whether `meant` may find another name than this one."""
    return _SPELLED.search(name) is not None


def meant(name: str, names: Iterable[str]) -> str:
    """Which of `names` a missing `name` spells; itself where none or several would fit.

    In this order: the same letters, composed otherwise; the name that `display` shows so, or whose
    characters are written as escapes; the same with no-break spaces for blanks.
    """
    sound = [each for each in names if is_unicode(each)]
    for spelled in (composed, from_display, lambda text: from_display(text).translate(_BLANKS)):
        wanted = spelled(name)
        if alike := [each for each in sound if spelled(each) == wanted]:
            return alike[0] if len(alike) == 1 else name
    return name


def from_display(name: str) -> str:
    """The name that `display` may have shown so."""
    if "\\" not in name:
        return composed(name)
    plain = _ESCAPE.sub(lambda m: _LETTERS.get(m[1]) or chr(int(m[2] or m[3] or m[4], 16)), name)
    return composed(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def is_unicode(name: str) -> bool:
    """Whether its bytes are; others are surrogates in `name`."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
