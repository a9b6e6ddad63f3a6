"""Another spelling of lines than is meant: entities, escapes, curly quotes."""

import re
from collections.abc import Iterator, Sequence

Variant = tuple[str, tuple[bytes, ...] | None, re.Pattern[bytes]]

_ENTITIES = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"#39": b"'", b"#x27": b"'"}
_EACH = re.compile(b"&(" + b"|".join(_ENTITIES) + b");")
_ENTITY = re.compile(b".*?" + _EACH.pattern)
_LINE_END = re.compile(rb".*\\n")
_QUOTE = re.compile(rb'.*\\"')
_CURLY_SIGNS = "“".encode(), "”".encode()
_CURLY = re.compile(b".*(?:" + b"|".join(_CURLY_SIGNS) + b")")


def spellings(new: Sequence[bytes], old: Sequence[bytes]) -> Iterator[Variant]:
    """Each kind with the lines as they are meant, and what lines look like that are spelt so."""
    yield "HTML entities", _unescaped(new, old), _ENTITY
    yield "line ends written out", _cut(new, old), _LINE_END
    yield "escaped quotes", _respelled(new, old, b'\\"'), _QUOTE
    yield "curly quotes", _respelled(new, old, *_CURLY_SIGNS), _CURLY


def _unescaped(new: Sequence[bytes], old: Sequence[bytes]) -> tuple[bytes, ...] | None:
    """The signs themselves, where `old` has them and `new` none but as entities."""
    sent, there = b"\n".join(new), b"\n".join(old)
    bare = without_entities(sent)
    signs = [sign for sign in (b"<", b">", b'"') if bare.count(sign) > sent.count(sign)]
    plain = signs and not any(sign in sent or sign not in there for sign in signs)
    return tuple(bare.split(b"\n")) if plain else None


def without_entities(text: bytes) -> bytes:
    """The signs that HTML entities stand for, in place of them."""
    return _EACH.sub(lambda found: _ENTITIES[found[1]], text) if b"&" in text else text


def _cut(new: Sequence[bytes], old: Sequence[bytes]) -> tuple[bytes, ...] | None:
    """Lines that came in one, with their ends written out, in the place of several."""
    if len(new) != 1 or len(old) < 2:
        return None
    lines = tuple(new[0].split(b"\\n"))
    return lines if len(lines) > 1 and {*filter(bytes.strip, lines)} & {*old} else None


def _respelled(
    new: Sequence[bytes], old: Sequence[bytes], *signs: bytes
) -> tuple[bytes, ...] | None:
    """A plain quote for the signs, where `old` has it and `new` none but these."""
    bare = [*new]
    for sign in signs:
        bare = [line.replace(sign, b'"') for line in bare]
    quotes = [sum(line.count(b'"') for line in lines) for lines in (bare, new)]
    mere = bare != [*new] and quotes[1] in (0, sum(line.count(b'\\"') for line in new))
    return tuple(bare) if mere and quotes[0] > 1 and any(b'"' in line for line in old) else None
