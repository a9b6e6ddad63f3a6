"""A stream of any length in bounded memory: its beginning and its end."""

CHUNK = 1 << 16
WHOLE_LINE = 2000  # bytes given up so that a cut falls between lines


class Output:
    """Keeps the first and the last bytes of a stream, at most `limit` in all, and counts the rest.

    What is left out is said in its place, so the text is a few words longer than `limit`.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        if room := max(0, self.limit // 2 - len(self._head)):
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        keep = self.limit - self.limit // 2
        if len(self._tail) > keep + CHUNK:
            del self._tail[:-keep]

    def text(self, limit: int) -> str:
        """The stream in at most `limit` bytes; what cannot be decoded is U+FFFD."""
        if self.total <= min(limit, self.limit):
            return (self._head + self._tail).decode(errors="replace")
        limit = min(limit, self.limit)
        head = self._head[: limit // 2]
        tail = (self._head + self._tail)[-(limit - limit // 2) :] if limit else bytearray()
        if (end := head.rfind(b"\n") + 1) > len(head) - WHOLE_LINE:
            head = head[:end] or head
        if 0 <= (start := tail.find(b"\n") + 1) < min(WHOLE_LINE, len(tail)):
            tail = tail[start:]
        dropped = self.total - len(head) - len(tail)
        gap = f"\n[... {dropped:,} of {self.total:,} bytes left out ...]\n"
        return head.decode(errors="replace").rstrip("\n") + gap + tail.decode(errors="replace")


def share(first: Output, second: Output, limit: int) -> tuple[int, int]:
    """How many bytes of `limit` two streams get: what the shorter leaves, the longer takes."""
    half = limit // 2
    if first.total <= half:
        return limit, limit - first.total
    if second.total <= half:
        return limit - second.total, limit
    return limit - half, half
