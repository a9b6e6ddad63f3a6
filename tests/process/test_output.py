"""A stream of any length in bounded memory."""

import pytest

from fsagent_tools.process.output import CHUNK, Output, share


def filled(limit, *chunks):
    output = Output(limit)
    for chunk in chunks:
        output.add(chunk)
    return output


def test_a_stream_within_the_limit_comes_back_whole():
    assert filled(10, b"01234", b"56789").text(10) == "0123456789"


def test_a_longer_stream_keeps_its_ends_and_counts_the_rest():
    text = filled(10, *[b"%d" % (i % 10) for i in range(100)]).text(10)
    assert text == "01234\n[... 90 of 100 bytes left out ...]\n56789"


@pytest.mark.parametrize("size", [1, 7, 1000, CHUNK, 3 * CHUNK])
def test_the_size_of_the_pieces_changes_nothing(size):
    data = b"".join(b"line %d\n" % i for i in range(20_000))
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert filled(51_200, *pieces).text(51_200) == filled(51_200, data).text(51_200)


def test_a_cut_falls_between_lines():
    text = filled(5000, b"".join(b"line %06d\n" % i for i in range(10_000))).text(5000)
    head, tail = text.split("\n[... ")
    assert head.endswith("line 000207")
    assert tail.split("...]\n")[1].startswith("line 0097")


def test_memory_stays_bounded():
    output = Output(1000)
    for _ in range(1000):
        output.add(b"x" * CHUNK)
    assert len(output._head) + len(output._tail) < 1000 + 2 * CHUNK
    assert output.total == 1000 * CHUNK


def test_bytes_that_are_no_text_are_replaced():
    assert filled(100, b"a\xff\0b").text(100) == "a\ufffd\0b"


@pytest.mark.parametrize(
    ("first", "second", "limits"),
    [(10, 10, (100, 90)), (10, 500, (100, 90)), (500, 10, (90, 100)), (500, 500, (50, 50))],
)
def test_two_streams_share_one_limit(first, second, limits):
    assert share(filled(100, b"x" * first), filled(100, b"x" * second), 100) == limits
