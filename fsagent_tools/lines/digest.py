"""SHA-256 for many short texts: CPython's own code starts twice as fast as OpenSSL's."""

import sys
from collections.abc import Iterable

try:
    if sys.version_info >= (3, 12):
        from _sha2 import sha256 as sha256
    else:
        from _sha256 import sha256 as sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # built without
    from hashlib import sha256 as sha256

_digest = type(sha256()).digest
DIGEST = 32  # bytes


def heads(texts: Iterable[bytes], width: int) -> bytearray:
    """The first `width` bytes of the digest of each text, one behind the other."""
    digests = b"".join(map(_digest, map(sha256, texts)))
    cut = bytearray(len(digests) // DIGEST * width)
    for byte in range(width):
        cut[byte::width] = digests[byte::DIGEST]
    return cut
