"""A repository whose files lie: what is read of it is right, or nothing."""

import hashlib
import os
import struct
import subprocess
import time
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsagent_tools.history.git.data import LARGEST_OBJECT
from fsagent_tools.history.git.entries import index_entries
from fsagent_tools.history.git.objects import with_alternates
from fsagent_tools.history.git.packs import packed_object
from fsagent_tools.history.git.repository import Repository

NAME = bytes(range(20))


def git(root, *words):
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A packed repository of texts that are deltas of each other; the blobs by name."""
    root = tmp_path_factory.mktemp("project")
    git(root, "init", "-q")
    lines = [f"line {number}\n" for number in range(300)]
    for number in range(4):
        lines[number * 70] = f"changed {number}\n"
        (root / "a.txt").write_text("".join(lines))
        (root / f"b{number}").write_text(f"{number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "x")
    git(root, "gc", "-q")
    names = [line[:40] for line in git(root, "rev-list", "--objects", "--all").splitlines()]
    repository = Repository.of(root)
    blobs = {name: data for name in names if (data := repository.blob(name)) is not None}
    assert len(blobs) == 8
    return root, blobs


def pack(folder, offsets, body):
    """A pack of these bytes, and its index of names and offsets."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "p.pack").write_bytes(b"PACK" + struct.pack("!II", 2, len(offsets)) + body)
    names = sorted(offsets)
    table = b"".join(struct.pack("!I", sum(n[0] <= k for n in names)) for k in range(256))
    table += b"".join(names) + bytes(4 * len(names))
    table += b"".join(struct.pack("!I", offsets[name]) for name in names)
    (folder / "p.idx").write_bytes(b"\xfftOc" + struct.pack("!I", 2) + table)
    return folder


def head(kind, size):
    found, byte, size = b"", kind << 4 | size & 15, size >> 4
    while size:
        found, byte, size = found + bytes([byte | 128]), size & 127, size >> 7
    return found + bytes([byte])


def length(size):
    found = b""
    while size > 127:
        found, size = found + bytes([size & 127 | 128]), size >> 7
    return found + bytes([size])


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_pack_gives_the_blob_or_nothing(project, data):
    root, blobs = project
    with TemporaryDirectory() as name:
        folder = Path(name) / "pack"
        folder.mkdir()
        for ending in ("idx", "pack"):
            (found,) = root.glob(f".git/objects/pack/*.{ending}")
            raw = bytearray(found.read_bytes())
            for _ in range(data.draw(st.integers(0, 4))):
                raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
            del raw[data.draw(st.sampled_from([len(raw), len(raw) // 2, 1030, 9, 0])) :]
            (folder / f"p.{ending}").write_bytes(raw)
        repository = Repository(Path(name), "")
        repository._common = Path(name)
        (Path(name) / "objects").symlink_to(name)
        for sha, content in blobs.items():
            assert repository.blob(sha) in (content, None)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4),
    st.integers(0, 10**6),
    st.sampled_from([2, 4]),
)
def test_a_damaged_index_is_read_or_is_a_value_error(changes, cut, version):
    entry = struct.pack("!10I20sH", *range(1, 7), 0o100644, 0, 0, 9, NAME, 5)
    entry = entry[:24] + struct.pack("!I", 0o100644) + entry[28:]
    rest = b"\0a.txt\0" if version == 4 else b"a.txt" + bytes(8 - (62 + 5) % 8)
    raw = bytearray(b"DIRC" + struct.pack("!II", version, 3) + (entry + rest) * 3 + bytes(20))
    assert index_entries(bytes(raw))
    for at, value in changes:
        raw[at % len(raw)] = value
    with suppress(ValueError):
        index_entries(bytes(raw[: cut % (len(raw) + 1)]))


def test_an_index_that_claims_billions_of_entries_is_none(project):
    root, _ = project
    raw = (root / ".git" / "index").read_bytes()
    with pytest.raises(ValueError, match="cut off"):
        index_entries(raw[:8] + b"\xff\xff\xff\xff" + raw[12:])


def test_deltas_that_lead_round_in_a_circle_end(tmp_path):
    delta = zlib.compress(b"\1\1\1x")
    by_name = head(7, 4) + NAME + delta
    folder = pack(tmp_path / "named", {NAME: 12}, by_name)
    with pytest.raises(ValueError, match="no object"):
        packed_object(folder, NAME)
    by_offset = head(6, 4) + b"\0" + delta  # no way back: itself
    folder = pack(tmp_path / "offset", {NAME: 12}, by_offset)
    with pytest.raises(ValueError, match="no object"):
        packed_object(folder, NAME)


def test_a_delta_that_would_be_endless_is_refused(tmp_path):
    base = zlib.compress(b"x" * 100_000)
    copies = length(100_000) + length(50) + b"\xf0\xa0\x86\1" * 20_000  # 100,000 bytes each
    delta = head(7, len(copies)) + NAME + zlib.compress(copies)
    other = bytes(reversed(NAME))
    folder = pack(
        tmp_path / "p", {NAME: 12, other: 12 + 3 + len(base)}, head(3, 100_000) + base + delta
    )
    assert packed_object(folder, NAME) == b"x" * 100_000
    with pytest.raises(ValueError, match="too large"):
        packed_object(folder, other)
    folder = pack(tmp_path / "q", {NAME: 12}, head(3, LARGEST_OBJECT + 1) + base)
    with pytest.raises(ValueError, match="too large"):
        packed_object(folder, NAME)


MANY = 100 << 20  # bytes that a few kilobytes inflate to


def deflated(data):
    """As the same bytes over and over."""
    packer = zlib.compressobj(9)
    piece = b"A" * (1 << 20)
    yield packer.compress(data)
    for _ in range(MANY >> 20):
        yield packer.compress(piece)
    yield packer.flush()


def loose(folder, size):
    (folder / "objects" / "aa").mkdir(parents=True)
    path = folder / "objects" / "aa" / ("1" * 38)
    path.write_bytes(b"".join(deflated(b"blob %d\0" % size)))
    return "aa" + "1" * 38


def packed_base(folder, size):
    """A blob of one byte that is a delta of what inflates to more than it is told to."""
    base, other = head(3, size) + b"".join(deflated(b"")), bytes(reversed(NAME))
    delta = length(size) + length(1) + b"\1A"
    rest = head(7, len(delta)) + NAME + zlib.compress(delta)
    pack(folder / "objects" / "pack", {NAME: 12, other: 12 + len(base)}, base + rest)
    return other.hex()


def packed_chain(folder, _):
    """Deltas on each other, each of which copies all that there is."""
    size = LARGEST_OBJECT
    body, offsets, name = head(3, size) + zlib.compress(b"A" * size), {NAME: 12}, NAME
    copies = b"\xf0\xff\xff\xff" * (size // 0xFFFFFF)
    delta = (
        length(size) + length(size) + copies + b"\xf0%b" % (size % 0xFFFFFF).to_bytes(3, "little")
    )
    for number in range(2000):
        offsets[(new := number.to_bytes(20))] = 12 + len(body)
        body += head(7, len(delta)) + name + zlib.compress(delta)
        name = new
    pack(folder / "objects" / "pack", offsets, body)
    return name.hex()


@pytest.mark.parametrize("made", [loose, packed_base, packed_chain])
@pytest.mark.parametrize("told", [MANY, 100, LARGEST_OBJECT])
def test_a_bomb_costs_neither_memory_nor_time(made, told, tmp_path):
    sha = made(tmp_path, told)
    repository = Repository(tmp_path, "")
    tracemalloc.start()
    began = time.process_time()
    assert repository.blob(sha) is None
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()
    assert time.process_time() - began < 60  # a guard against what would never end


@pytest.mark.usefixtures("home")
def test_pipes_and_links_keep_nobody_waiting(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q")
    for name in ("index", "config", "info/attributes", "objects/info/alternates", "commondir"):
        path = root / ".git" / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    sha = hashlib.sha1(b"x").hexdigest()
    for folder, name in ((sha[:2], sha[2:]), ("pack", "p.idx"), ("pack", "p.pack")):
        (root / ".git" / "objects" / folder).mkdir(exist_ok=True)
        os.mkfifo(root / ".git" / "objects" / folder / name)
    repository = Repository.of(root)
    repository.refresh()
    assert repository.entries == {}
    assert not repository.converts(())
    assert repository.blob(sha) is None
    (root / ".git" / "index").unlink()
    (root / ".git" / "index").symlink_to("/dev/zero")
    repository.refresh()
    assert repository.entries == {}


def test_object_directories_that_borrow_from_each_other_end(tmp_path):
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "alternates").write_text("../x/..\n../y/..\ninfo/..\n/\n" * 50)
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    assert len([*with_alternates(tmp_path)]) <= 16


@pytest.mark.parametrize("setting", ["[core]\n autocrlf = true\n", '[filter "x"]\nclean = cat\n'])
def test_a_setting_of_an_included_file_counts(tmp_path, monkeypatch, setting):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    git(tmp_path, "init", "-q")
    repository = Repository.of(tmp_path)
    assert not repository.converts(())
    (tmp_path / ".gitconfig").write_text('[include]\n\tpath = "more"\n')
    (tmp_path / "more").write_text(
        '[includeIf "gitdir:~/x/"]\npath = ~/last\n[include]\npath=more\n'
    )
    (tmp_path / "last").write_text("[user]\nname = a\n")
    assert not repository.converts(())
    (tmp_path / "last").write_text(setting)
    assert repository.converts(())
