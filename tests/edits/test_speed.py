import difflib
import random
import time
import tracemalloc

import pytest

from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.edits.similarity import suggest
from fsagent_tools.errors import NoMatch

WORDS = ["alpha", "beta", "gamma", "value", "result", "config", "index", "buffer", "count", "name"]


def best_of(call, times=3):
    """Seconds of this process alone: what others take counts for nothing."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        call()
        best = min(best, time.process_time() - started)
    return best


def difflib_ratio(one, other):
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return best_of(matcher.ratio, 1)


@pytest.fixture(scope="module")
def hostile():
    """Two texts that are as unlike as can be, and what one ratio of them takes."""
    dice = random.Random(2)
    pair = ["".join(dice.choices(letters, k=20_000)) for letters in ("abcdefg ", "hijklmn ")]
    return *pair, difflib_ratio(*pair)


def missed(text, old):
    with pytest.raises(NoMatch):
        find(text, old, "x")


def numbered_lines(count):
    dice = random.Random(1)
    return [f"{' '.join(dice.choices(WORDS, k=6))} = {n}" for n in range(count)]


@pytest.mark.slow
def test_a_block_in_5000_lines_costs_a_hundredth_of_a_sliding_difflib_window():
    lines = numbered_lines(5000)
    text = "\n".join(lines).encode()
    block = [*lines[3000:3005], lines[3005].replace("a", "q", 1), *lines[3006:3012]]
    absent = "\n".join(f"something entirely other {n} with text" for n in range(12))
    windows = ["\n".join(lines[n : n + 12]) for n in range(60)]
    for old, search in (
        ("\n".join(block), lambda old: find(text, old, "x")),
        (absent, lambda old: missed(text, old)),
    ):
        some = best_of(
            lambda old=old: [difflib.SequenceMatcher(None, w, old).ratio() for w in windows], 1
        )
        sliding = some / len(windows) * (len(lines) - 11)
        assert best_of(lambda old=old, search=search: search(old)) < sliding / 100


@pytest.mark.slow
def test_a_hostile_pair_costs_a_fiftieth_of_one_difflib_ratio(hostile):
    one, other, ratio = hostile
    assert best_of(lambda: missed(one.encode(), other)) < ratio / 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "old"),
    [
        (b"same line of text here\n" * 100_000, "same linne of text here\n" * 1000 + "zzz"),
        (b"lorem ipsum " * 800_000, "lorem ipsum " * 80_000 + "x"),
        (b"a " * 2_000_000, "a " * 5000 + "b"),
        (b"\n" * 2_000_000, "a\n\n\nb"),
        (b" " * 5_000_000 + b"x", "a" + " " * 1000 + "b"),
        ((b"q" * 1990 + b" end\n") * 4000, "q" * 1900 + "w" * 90 + " end"),
        ("\n".join(numbered_lines(100_000)).encode(), "\n".join(numbered_lines(2001)[1:]) + "q"),
        ("lorem 漢字 ipsum\n".encode() * 250_000, "lorem  漢字 ipsux\nq"),
    ],
)
def test_megabytes_cost_less_to_miss_than_one_difflib_ratio_of_20_000_characters(
    text, old, hostile
):
    assert best_of(lambda: missed(text, old)) < hostile[2]
    assert best_of(lambda: suggest(text, old)) < hostile[2]


def test_judging_a_change_with_one_reading_copies_nothing_of_a_large_text():
    text = b"pass\n" * 400_000 + b"value = 1\n" + b"pass\n" * 400_000
    tracemalloc.start()
    try:
        find(text, "value = 1\n", "value = 2\n", evidence=Evidence(parses=lambda _: None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(text) / 10
