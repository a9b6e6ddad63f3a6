"""Line IDs: sets of them, and how one is minted."""

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256
from operator import add

WIDTH = 6  # hex digits
SIZE = WIDTH // 2  # bytes
_digest = type(sha256()).digest
_DIGEST = sha256().digest_size
_KEPT = 1 << 12  # numbers of lines that a process keeps as text
_prefixes: deque[list[bytes]] = deque([[b"0:"]], 1)


class IdSet:
    """A set of IDs that keeps them as numbers, in a fifth of the time that strings take."""

    __slots__ = ("_known", "_received")

    def __init__(self, ids: str = "") -> None:
        self._known = set(numbers_of(bytes.fromhex(ids)))
        self._received = ""

    @property
    def numbers(self) -> set[int]:
        if self._received:
            self._known.update(numbers_of(bytes.fromhex(self._received)))
            self._received = ""
        return self._known

    def receive(self, ids: str) -> None:
        """`add`, at work only when the set is looked at: after a first read mostly nobody does."""
        self._received += ids

    def __contains__(self, line_id: str) -> bool:
        return not self.numbers.isdisjoint(numbers_of(bytes.fromhex(line_id)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdSet) and self.numbers == other.numbers

    def add(self, ids: str) -> None:
        """Add the IDs in one string."""
        self.numbers.update(numbers_of(bytes.fromhex(ids)))

    def without(self, ids: str) -> str:
        """Those of the IDs in one string that are not there."""
        numbers = numbers_of(bytes.fromhex(ids))
        pairs = zip(split_ids(ids), numbers, strict=True)
        return "".join(line_id for line_id, number in pairs if number not in self.numbers)

    def claim(self, ids: bytes | bytearray) -> list[int]:
        """Add the IDs, `SIZE` bytes each; returns the places of those that were there before."""
        numbers, known = numbers_of(ids), self.numbers
        fresh = set(numbers)
        if len(fresh) == len(numbers) and fresh.isdisjoint(known):
            if known:
                known |= fresh
            else:
                self._known = fresh
            return []
        taken = []
        for place, number in enumerate(numbers):
            if number in known:
                taken.append(place)
            else:
                known.add(number)
        return taken


def numbers_of(ids: bytes | bytearray) -> list[int]:
    """The IDs, `SIZE` bytes each, as `IdSet` keeps them."""
    wide = bytearray(len(ids) // 3 * 4)
    wide[::4], wide[1::4], wide[2::4] = ids[::3], ids[1::3], ids[2::3]
    return memoryview(wide).cast("I").tolist()


def ids_of(numbers: Sequence[int]) -> bytearray:
    """The other way round."""
    wide = array("I", numbers).tobytes()
    ids = bytearray(len(numbers) * SIZE)
    ids[::3], ids[1::3], ids[2::3] = wide[::4], wide[1::4], wide[2::4]
    return ids


def mint(first: int, lines: Sequence[bytes], used: IdSet) -> str:
    """Fresh IDs, in one string, for consecutive lines (UTF-8, no ending) from 1-based line `first`.

    The seed is sha256(f"{line_num}:{content}"), truncated to 6 hex digits; an ID in `used` is
    salted until free. `used` receives every ID, so that none is ever given out twice.
    """
    seeds = _seeds(first, lines)
    ids = _heads(seeds)
    for place in used.claim(ids):
        salt = 1
        while used.claim(other := _heads([b"%b:%d" % (seeds[place], salt)])):
            salt += 1
        ids[place * SIZE : (place + 1) * SIZE] = other
    return ids.hex()


def _seeds(first: int, lines: Sequence[bytes]) -> list[bytes]:
    """`{line_num}:{content}` of each line."""
    known, stop = _prefixes[0], first + len(lines)
    if len(known) < stop <= _KEPT and first <= len(known):
        known = [*known, *map(b"%d:".__mod__, range(len(known), stop))]
        _prefixes.append(known)
    if stop > len(known):
        return [*map(b"%d:%b".__mod__, enumerate(lines, first))]
    return [*map(add, known[first:stop], lines)]


def _heads(seeds: Iterable[bytes]) -> bytearray:
    """The first `SIZE` bytes of the SHA-256 of each seed, one behind the other."""
    digests = b"".join(map(_digest, map(sha256, seeds)))
    cut = bytearray(len(digests) // _DIGEST * SIZE)
    for byte in range(SIZE):
        cut[byte::SIZE] = digests[byte::_DIGEST]
    return cut


def split_ids(ids: str) -> list[str]:
    """The IDs in one string."""
    return [ids[k : k + WIDTH] for k in range(0, len(ids), WIDTH)]
