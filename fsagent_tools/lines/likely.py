"""Which line a mistyped ID was probably meant for: where a refusal looks, never what is edited."""

from collections.abc import Iterable
from itertools import islice

LOOKED_AT = 50_000  # lines looked through for one refusal


def likely(name: str, quote: str, shown: Iterable[tuple[int, str, bytes]]) -> int | None:
    """The line whose text begins with the quote, else one whose ID is a character off; or None.

    shown: 0-based number, ID as a model sees it, and text of each line that has an ID. Of several
    lines with the quoted text it is the one whose ID is most like the name.
    """
    words = "".join(quote.split()).encode(errors="replace")
    best, least = None, (True, 9)
    for line, line_id, text in islice(shown, LOOKED_AT):
        wrong = 9 if len(line_id) != len(name) else sum(map(str.__ne__, name, line_id))
        quoted = bool(words) and b"".join(text.split()).startswith(words)
        if (quoted or wrong <= 1) and (best is None or (not quoted, wrong) < least):
            best, least = line, (not quoted, wrong)
    return best
