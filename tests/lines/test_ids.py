"""How an ID is minted."""

from hashlib import sha256

from fsagent_tools.lines.ids import IdSet, mint, split_ids


def seed(text):
    return sha256(text.encode()).hexdigest()[:6]


def test_an_id_is_the_hash_of_number_and_content():
    assert mint(7, [b"a", b""], IdSet()) == seed("7:a") + seed("8:")


def test_every_window_of_a_long_text_counts_its_lines_from_its_own_number():
    for first in (1, 1, 2, 30, 2_001, 4_001, 3_500, 4_095, 4_096, 9_000):
        lines = [b"%d of %d" % (n, first) for n in range(2_000 if first % 1_000 == 1 else 3)]
        wanted = [seed(f"{first + n}:{line.decode()}") for n, line in enumerate(lines)]
        minted = split_ids(mint(first, lines, IdSet()))
        assert sum(map(str.__ne__, minted, wanted)) <= 2  # salted, where two collide


def test_an_id_in_use_is_salted_until_it_is_free():
    used = IdSet(seed("1:a") + seed("1:a:1"))
    assert mint(1, [b"a"], used) == seed("1:a:2")
    assert seed("1:a:2") in used


def test_equal_lines_never_share_an_id():
    ids = split_ids(mint(1, [b"}"] * 5000, IdSet()))
    assert len(set(ids)) == 5000


def test_ids_stay_unique_in_a_file_where_hashes_collide():
    lines = [str(n).encode() for n in range(20_000)]
    plain = [seed(f"{n}:{n - 1}") for n in range(1, 20_001)]
    assert len(set(plain)) < 20_000
    assert len(set(split_ids(mint(1, lines, IdSet())))) == 20_000


def test_a_set_of_ids_tells_which_are_new():
    used = IdSet("aaaaaabbbbbb")
    assert "aaaaaa" in used
    assert "abcdef" not in used
    assert used.without("bbbbbbabcdefaaaaaa0000ff") == "abcdef0000ff"
    assert used.claim(bytes.fromhex("abcdefaaaaaaabcdef")) == [1, 2]
    assert "abcdef" in used
