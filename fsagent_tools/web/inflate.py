"""Compressed bodies, decompressed in pieces of bounded size, so that a bomb never unfolds."""

import zlib
from collections.abc import Callable, Generator, Iterator
from functools import cache

from fsagent_tools.errors import NetworkError

PIECE = 1 << 16  # bytes; the most that one step produces


class _Zlib:
    """gzip (also several members in a row), zlib, or raw deflate, which some servers send."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        while data or len(piece) == PIECE:  # a full piece may leave more inside the engine
            piece = self._step(data)
            self._started = True
            yield piece
            data = self._engine.unconsumed_tail
            if self._engine.eof:
                data, piece = self._engine.unused_data, b""
                if not data.startswith(b"\x1f\x8b"):
                    return  # padding after the end
                self._engine = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def _step(self, data: bytes) -> bytes:
        try:
            return self._engine.decompress(data, PIECE)
        except zlib.error:
            if self._started:
                raise
            self._engine = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._engine.decompress(data, PIECE)


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._engine = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while piece := self._engine.process(data, output_buffer_limit=PIECE):
            yield piece
            data = b""
            if self._engine.is_finished():
                return


@cache
def decoders() -> dict[str, Callable[[], "_Zlib | _Brotli"]]:
    """Content-Encoding -> decoder, for those that can stop at a limit (brotli from 1.2 on)."""
    known: dict[str, Callable[[], _Zlib | _Brotli]] = {"gzip": _Zlib, "deflate": _Zlib}
    try:
        import brotli

        brotli.Decompressor().process(b"", output_buffer_limit=PIECE)
    except (ImportError, TypeError):
        return known
    return {**known, "br": _Brotli}


def inflate(chunks: Iterator[bytes], encoding: str) -> Generator[bytes, None, None]:
    """The decoded body in pieces of at most 64 KB. Raises `NetworkError` for a broken one."""
    name = encoding.strip().lower().removeprefix("x-")
    if name in ("", "identity"):
        yield from chunks
        return
    if name not in decoders():
        raise NetworkError(
            f"The body is compressed as {name[:40]!r}, which was not asked for.",
            hint="Use another source.",
        )
    decoder = decoders()[name]()
    try:
        for chunk in chunks:
            yield from decoder.feed(chunk)
    except Exception as error:
        if isinstance(error, zlib.error) or type(error).__module__ == "brotli":
            raise NetworkError(f"The compressed body is damaged: {error}.") from None
        raise
