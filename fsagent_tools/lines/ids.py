"""Line IDs: sets of them, and how one is minted."""

from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256

WIDTH = 6  # hex digits
SIZE = WIDTH // 2  # bytes
_digest = type(sha256()).digest
_DIGEST = sha256().digest_size


class IdSet:
    """A set of IDs that keeps them as numbers, in a fifth of the time that strings take."""

    def __init__(self, ids: str = "") -> None:
        self.numbers = {*numbers_of(bytes.fromhex(ids))}

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
        if len(fresh := {*numbers}) == len(numbers) and fresh.isdisjoint(known):
            known |= fresh
            return []
        first = {number: n for n, number in reversed([*enumerate(numbers)])}
        taken = [n for n, number in enumerate(numbers) if number in known or first[number] < n]
        known.update(numbers)
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

    Of sha256(f"{line_num}:{content}") the first 6 digits, salted until none of `used` is the same;
    that receives every ID, so that none is ever given out twice.
    """
    seeds = [*map(b"%d:%b".__mod__, enumerate(lines, first))]
    ids = _heads(seeds)
    for place in used.claim(ids):
        salt = 1
        while used.claim(other := _heads([b"%b:%d" % (seeds[place], salt)])):
            salt += 1
        ids[place * SIZE : (place + 1) * SIZE] = other
    return ids.hex()


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
