"""Properties of line IDs that hold whatever happens to a file."""

import json
import os
import re
import tempfile
from contextlib import suppress
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fsagent_tools import Workspace, toolset
from fsagent_tools.encoding import decode
from fsagent_tools.errors import BinaryFile, EncodingError
from fsagent_tools.lines.hunks import Hunk, refine, rewrite
from fsagent_tools.lines.ids import IdSet, split_ids
from fsagent_tools.lines.index import LineIndex, checksums
from fsagent_tools.lines.matching import align, same_lines
from fsagent_tools.lines.remap import carry, carry_by_hash
from fsagent_tools.lines.source import Lines, split
from fsagent_tools.session.index_store import FOLDER
from fsagent_tools.text import clip, newline_of

pytestmark = pytest.mark.full

FAST = (
    "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
)  # thousands of directories come and go
LINE = st.sampled_from(
    ["", "", "}", "}", "    }", "x", "y", "return x", "a b", "ä\u2028\f", "x\ry"]
)
LINES = st.lists(LINE, max_size=14)
ENDING = st.sampled_from(["\n", "\n", "\n", "\r\n"])


@st.composite
def texts(draw):
    """Bytes of a small text: mixed endings, perhaps without the last, or ending at CR only."""
    lines = draw(LINES)
    if draw(st.integers(0, 9)) == 0:
        return "".join(line.replace("\r", "") + "\r" for line in lines).encode()
    text = "".join(line + draw(ENDING) for line in lines)
    return (text[:-1] if draw(st.booleans()) else text).encode()


def lines_of(raw):
    return Lines.of(raw, newline_of(raw))


def shown(index, lines, start=0, stop=None):
    stop = lines.count if stop is None else stop
    return split_ids(index.show(lines.window(start, stop)))


# Lines -------------------------------------------------------------------------------------------


@given(texts(), st.integers(1, 9), st.integers(0, 20), st.integers(0, 20))
def test_offsets_and_lines_agree_with_a_plain_split(raw, block, start, more):
    import fsagent_tools.lines.source as source

    before, source._BLOCK = source._BLOCK, block
    try:
        lines = lines_of(raw)
        plain = raw.split(lines.newline)
        whole = [part + lines.newline for part in plain[:-1]] + ([plain[-1]] if plain[-1] else [])
        assert lines.count == len(whole)
        for n in range(len(whole) + 2):
            assert lines.offset(n) == len(b"".join(whole[:n]))
        stop = start + more
        assert lines.raw(start, stop) == b"".join(whole[start:stop])
        ends = [p + e for p, e in zip(lines.between(start, stop), lines.endings(start, stop),
                                      strict=True)]  # fmt: skip
        if not raw.endswith(b"\r") or lines.newline == b"\r":
            assert b"".join(ends) == b"".join(whole[start:stop])
    finally:
        source._BLOCK = before


@given(texts(), st.integers(0, 9), st.integers(0, 9), st.integers(0, 30))
def test_a_window_shows_each_of_its_lines(raw, start, more, limit):
    lines = lines_of(raw)
    window = lines.window(start, start + more)
    assert window.raw == lines.raw(window.start, window.stop)
    assert len(window.lines) == window.count == max(0, min(start + more, lines.count) - start)
    if window.count:
        assert window.text.split(b"\n") == [line.replace(b"\n", b"\r") for line in window.lines]
        shown = window.clipped(limit).decode(errors="replace").split("\n")
        assert shown == [clip(line.decode(errors="replace"), limit)
                         for line in window.text.split(b"\n")]  # fmt: skip
    longest = max(map(len, window.lines), default=0)
    assert not window.within(limit) or longest <= limit
    assert window.within(limit) or longest >= limit  # a carriage return may count as one


@given(texts(), st.integers(0, 9), st.integers(0, 9), st.integers(0, 90), st.integers(0, 9))
def test_as_many_lines_as_fit_are_taken(raw, start, more, most, each):
    lines = lines_of(raw)
    start = min(start, lines.count)
    stop = min(start + more, lines.count)
    window = lines.fitting(start, stop, most, each)
    fit = [
        n for n in range(start, stop + 1) if len(lines.raw(start, n)) + each * (n - start) <= most
    ]
    assert window.stop == max(fit, default=start)
    assert window.raw == lines.raw(start, window.stop)


@given(texts(), texts(), st.data())
def test_a_spliced_table_is_the_table_of_the_new_text(raw, patch, data):
    import fsagent_tools.lines.source as source

    before, source._BLOCK = source._BLOCK, data.draw(st.integers(1, 9))
    try:
        lines = lines_of(raw)
        for _ in range(3):
            first = data.draw(st.integers(0, len(raw)))
            last = data.draw(st.integers(first, len(raw)))
            raw = raw[:first] + patch + raw[last:]
            lines = lines.spliced(raw, first, last)
            fresh = Lines.of(raw, lines.newline)
            assert (lines.count, lines.size) == (fresh.count, fresh.size)
            assert lines.ends_with_newline == fresh.ends_with_newline
            for n in range(fresh.count + 1):
                assert lines.offset(n) == fresh.offset(n)
    finally:
        source._BLOCK = before


@given(st.binary(max_size=60) | texts())
def test_decoding_and_encoding_give_the_same_bytes(raw):
    assume(b"\0" not in raw)
    try:
        decoded = decode(raw, "a")
    except (BinaryFile, EncodingError):
        return
    assert decoded.bom + decoded.encode(decoded.utf8) == raw or not decoded.exact
    if not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert [decoded.utf8.count(end) for end in (b"\r", b"\n")] == [
            raw.count(end) for end in (b"\r", b"\n")
        ]


# Alignment and carrying --------------------------------------------------------------------------


@given(LINES, LINES, st.booleans())
def test_alignment_pairs_equal_lines_once(old, new, moves):
    found = {y + k: x + k for x, y, n in same_lines(old, new) for k in range(n)}
    matched = [found.get(y, -1) for y in range(len(new))] if moves else align(old, new)
    assert len(matched) == len(new)
    pairs = [(x, y) for y, x in enumerate(matched) if x >= 0]
    assert all(old[x] == new[y] for x, y in pairs)
    assert len({x for x, _ in pairs}) == len(pairs)
    if not moves:
        assert pairs == sorted(pairs)


@given(LINES, st.data())
def test_unchanged_unique_lines_around_one_change_are_matched(old, data):
    old = [f"{n}" for n in range(len(old))]
    first = data.draw(st.integers(0, len(old)))
    last = data.draw(st.integers(first, len(old)))
    fresh = [f"new {n}" for n in range(data.draw(st.integers(0, 5)))]
    matched = align(old, [*old[:first], *fresh, *old[last:]])
    kept = [*range(first), *([-1] * len(fresh)), *range(last, len(old))]
    assert matched == kept


@given(LINES, LINES, st.data())
def test_carrying_keeps_texts_and_never_doubles_an_id(old, new, data):
    old_raw, new_raw = ["\n".join(x).encode() for x in (old, new)]
    a, b = lines_of(old_raw), lines_of(new_raw)
    index = LineIndex(a.count)
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, a.count))
        shown(index, a, start, data.draw(st.integers(start, a.count)))
    text = {}
    for run in index.runs:
        text |= zip(run.list(), a.between(run.start, run.stop), strict=True)
    one = carry(LineIndex.from_json(index.to_json()), split(old_raw, a.newline),
                split(new_raw, b.newline))  # fmt: skip
    two = carry_by_hash(LineIndex.from_json(index.to_json()), split(new_raw, b.newline))
    for carried in (one, two):
        check_index(carried, b)
        for run in carried.runs:
            for line_id, line in zip(run.list(), b.between(run.start, run.stop), strict=True):
                assert (text[line_id] == line) == (line_id not in carried.respaced)
                assert b"".join(text[line_id].split()) == b"".join(line.split())
        assert all(line_id in carried.used for line_id in text)
        fresh = shown(carried, b)
        assert len(set(fresh)) == len(fresh)
        assert not set(fresh) & {
            carried.retired[k : k + 6] for k in range(0, len(carried.retired), 6)
        }


def check_index(index, lines):
    assert index.count == lines.count
    at = 0
    for run in index.runs:
        assert at <= run.start <= run.stop <= index.count
        assert len(run)
        at = run.stop
        assert run.sums == checksums(lines.between(run.start, run.stop))
    live = split_ids(index.live)
    assert len(set(live)) == len(live)
    assert all(line_id in index.used for line_id in live)
    retired = {index.retired[k : k + 6] for k in range(0, len(index.retired), 6)}
    assert not retired & set(live)
    assert IdSet(index.live + index.retired) == index.used
    LineIndex.from_json(index.to_json())


# Hunks -------------------------------------------------------------------------------------------


@given(LINES, LINES, st.integers(0, 5))
def test_refined_hunks_do_what_the_whole_hunk_does(old, new, start):
    old, new = [[line.encode() for line in lines] for lines in (old, new)]
    result, at = [], start
    for hunk in refine(Hunk(start, start + len(old), tuple(new)), old):
        assert hunk.start >= at
        result += old[at - start : hunk.start - start] + list(hunk.new)
        at = hunk.stop
    assert result + old[at - start :] == new


@given(texts(), st.data())
def test_a_rewrite_changes_only_the_addressed_bytes(raw, data):
    lines = lines_of(raw)
    assume(lines.count)
    first = data.draw(st.integers(0, lines.count - 1))
    last = data.draw(st.integers(first, lines.count))
    new = tuple(line.encode() for line in data.draw(LINES) if "\r" not in line)
    out = rewrite(lines, raw, [Hunk(first, last, new)])
    head, tail = lines.raw(0, first), lines.raw(last, lines.count)
    assert out.data.startswith(head)
    assert out.data.endswith(tail)
    middle = out.data[len(head) : len(out.data) - len(tail)]
    expected = [*split(head, lines.newline), *new, *split(tail, lines.newline)]
    assert split(out.data, lines.newline) == expected or not expected
    if first == last and head and tail:
        ending = lines.endings(first - 1, first)[0]
        assert middle == b"".join(line + ending for line in new)
    assert out.lines.count == len(expected)


# A file, its sessions and the world --------------------------------------------------------------


class Life(RuleBasedStateMachine):
    """Sessions, processes and outsiders change one file; the model checks what each was told."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=FAST)
        self.path = Path(self.folder.name) / "a.txt"
        self.sessions = []
        self.told = {}  # ID -> text, of all that was ever shown
        self.edited = set()  # IDs whose lines an edit by ID removed or rewrote
        self.start_session()

    def teardown(self):
        for session in self.sessions:
            session.close()
        self.folder.cleanup()

    @initialize(raw=texts())
    def begin(self, raw):
        self.path.write_bytes(raw)

    @rule()
    def start_session(self):
        self.sessions.append(Workspace(self.folder.name))

    @precondition(lambda self: len(self.sessions) > 3)
    @rule()
    def end_session(self):
        self.sessions.pop(0).close()

    @rule(data=st.data())
    def drop_the_cache(self, data):
        data.draw(st.sampled_from(self.sessions)).close()

    @rule(raw=st.sampled_from([b"", b"{", b"[]", b'{"file_path": "a.txt", "version": 1}']))
    def corrupt_the_index(self, raw):
        """History is lost with it, so what was told before no longer binds a new session."""
        for index in Path(self.folder.name, *FOLDER).glob("*.json"):
            index.write_bytes(raw)
        for session in self.sessions:
            session.close()
        self.sessions = [Workspace(self.folder.name)]
        self.told, self.edited = {}, set()

    @rule(raw=texts())
    def rewrite_outside(self, raw):
        self.path.write_bytes(raw)

    @rule(data=st.data(), line=LINE)
    def change_outside(self, data, line):
        lines = self.path.read_bytes().split(b"\n")
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["insert", "delete", "replace", "swap", "copy"])):
            case "insert":
                lines.insert(at, line.encode())
            case "delete":
                lines.pop(at)
            case "replace":
                lines[at] = line.encode()
            case "swap":
                lines[at], lines[0] = lines[0], lines[at]
            case "copy":
                lines.insert(at, lines[at])
        self.path.write_bytes(b"\n".join(lines))

    def tools(self, data):
        return toolset("workspace").bind(data.draw(st.sampled_from(self.sessions)))

    def note(self, text):
        """Every ID that is shown names the text it named before, and no retired one returns."""
        for line_id, line in re.findall(r"^[ +]?\[LID:([0-9a-f]{6})\] ([^\n]*)$", text, re.M):
            assert "".join(self.told.get(line_id, line).split()) == "".join(line.split())
            self.told[line_id] = line
            assert line_id not in self.edited

    @rule(data=st.data(), offset=st.integers(1, 12), limit=st.integers(1, 9))
    def read(self, data, offset, limit):
        out = self.tools(data)["read"].call(
            {"file_path": "a.txt", "offset": offset, "limit": limit}
        )
        if out.ok:
            lines = lines_of(self.path.read_bytes())
            wanted = lines.between(offset - 1, offset - 1 + limit)
            told = out.data["content"].split("\n") if wanted else []
            assert [line.split("] ", 1)[1].encode() for line in told] == wanted
            assert len({line[5:11] for line in told}) == len(told)
            self.note(out.data["content"])

    @rule(data=st.data())
    def write(self, data):
        content = data.draw(texts()).decode()
        tools, before = self.tools(data), self.path.read_bytes()
        call = {"file_path": "a.txt", "content": content}
        for _ in range(3):  # a change by others, then a doubt about the text: a read answers each
            if tools["write"].call(call).ok:
                break
            assert self.path.read_bytes() == before
            assert tools["read"].call({"file_path": "a.txt"}).ok
        assert self.path.read_bytes() == content.encode()

    @precondition(lambda self: self.told)
    @rule(data=st.data(), new=st.lists(LINE, max_size=3))
    def edit(self, data, new):
        raw = self.path.read_bytes()
        lines = lines_of(raw)
        first = data.draw(st.sampled_from(sorted(self.told)))
        last = data.draw(st.sampled_from([first, first, *sorted(self.told)]))
        place = data.draw(st.sampled_from(["line", "range", "after", "before"]))
        change = {
            "line": {"line_id": first},
            "range": {"start_line_id": first, "end_line_id": last},
            "after": {"after_line_id": first},
            "before": {"before_line_id": first},
        }[place]
        last = last if place == "range" else first
        call = {"file_path": "a.txt", "changes": [{**change, "new_content": new}]}
        out = self.tools(data)["edit_lines"].call(call)
        after = self.path.read_bytes()
        if not out.ok:
            assert after == raw
            assert "othing was written" in out.text or "Read the file first" in out.text
            return
        self.check_edit(lines, after, (place, first, last), new)
        if place in ("line", "range"):
            self.retire(out.text)
        self.note(out.text)

    def check_edit(self, lines, after, asked, new):
        """What went was told under the IDs that named it; all other bytes are as they were."""
        place, first, last = asked
        old = [line.decode(errors="replace") for line in lines.between(0, lines.count)]
        new = [part for line in new for part in line.split(lines.newline.decode())]
        results = []
        for start in range(lines.count):
            if old[start] != self.told[first].encode().decode():
                continue
            for stop in [start + 1] if first == last else range(start + 1, lines.count + 1):
                if old[stop - 1] != self.told[last]:
                    continue
                low, high = {
                    "after": (stop, stop), "before": (start, start)
                }.get(place, (start, stop))  # fmt: skip
                head, tail = lines.raw(0, low), lines.raw(high, lines.count)
                middle = after[len(head) : len(after) - len(tail)]
                fits = after.startswith(head) and after.endswith(tail)
                got = split(middle, newline_of(after)) if middle.strip(b"\r\n") else None
                results.append(fits and (got is None or [g.decode() for g in got if g]
                                         == [n.removesuffix("\r") for n in new if n]))  # fmt: skip
        assert any(results)

    def retire(self, text):
        """IDs whose line is no longer anywhere may not come back; the index knows them."""
        self.edited |= set(self.told) - set(split_ids(LineIndex.from_json(self.stored()).live))

    def stored(self):
        """The index as the last call left it, into which goes all that a session knows."""
        for path in Path(self.folder.name, *FOLDER).glob("*.json"):
            with suppress(ValueError):  # corrupted on purpose
                return dict(json.loads(path.read_bytes()))
        return {}

    @invariant()
    def the_index_is_consistent(self):
        """It is of the file as the last call left it, whatever happened outside since."""
        stored, raw = self.stored(), self.path.read_bytes()
        if stored.get("content_hash") == f"blake2b:{blake2b(raw, digest_size=32).hexdigest()}":
            check_index(LineIndex.from_json(stored), lines_of(decode(raw, "a.txt").utf8))

    @invariant()
    def no_temporary_file_stays(self):
        names = [n for _, _, files in os.walk(self.folder.name) for n in files]
        assert not [n for n in names if n.startswith(".fsagent-")]


def test_a_file_s_life():
    run_state_machine_as_test(Life, settings=settings())


# Cold, warm and carried --------------------------------------------------------------------------


@given(
    texts(), st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["x", "", "n\nm"])), max_size=3)
)
def test_warm_and_cold_sessions_give_one_answer(raw, edits):
    """One session, a session per call, and a session whose cache is dropped before each call."""
    results = []
    for kind in ("warm", "cold", "dropped"):
        with tempfile.TemporaryDirectory(dir=FAST) as folder:
            path = Path(folder, "a.txt")
            path.write_bytes(raw)
            workspace = Workspace(folder)
            told = []
            for n, (at, new) in enumerate(edits):
                if kind == "cold":
                    workspace.close()
                    workspace = Workspace(folder)
                if kind == "dropped":
                    workspace.close()
                tools = toolset("workspace").bind(workspace)
                seen = tools["read"].call({"file_path": "a.txt"}).text
                ids = re.findall(r"^\[LID:(\w{6})\] ", seen, re.M)
                told.append(seen)
                if ids:
                    new = new and f"{n}{new}"  # never a repetition that confirms a doubtful edit
                    change = {"line_id": ids[at % len(ids)], "new_content": new}
                    call = {"file_path": "a.txt", "changes": [change]}
                    told.append(tools["edit_lines"].call(call).text)
            workspace.close()
            results.append((path.read_bytes(), told))
    assert results[0] == results[1] == results[2]


@given(texts(), st.data())
def test_changes_at_once_equal_changes_one_by_one(raw, data):
    raw = raw.replace(b"\r", b"")  # one by one, the last line with another ending may go first
    outcomes = []
    count = lines_of(raw).count
    assume(count)
    at = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=5)))
    kinds = [data.draw(st.sampled_from(["replace", "delete", "after", "before"])) for _ in at]
    order = data.draw(st.permutations(range(len(at))))
    for together in (True, False):
        with tempfile.TemporaryDirectory(dir=FAST) as folder:
            path = Path(folder, "a.txt")
            path.write_bytes(raw)
            workspace = Workspace(folder)
            tools = toolset("workspace").bind(workspace)
            ids = [line[5:11] for line in tools["read"].call({"file_path": "a.txt"}).data["content"]
                   .split("\n")]  # fmt: skip
            changes = []
            for n, (line, kind) in enumerate(zip(at, kinds, strict=True)):
                place = {"after": "after_line_id", "before": "before_line_id"}.get(kind, "line_id")
                new = "" if kind == "delete" else f"new {n}\nmore {n}"
                changes.append({place: ids[line], "new_content": new})
            calls = [changes] if together else [[changes[n]] for n in order]
            told = [tools["edit_lines"].call({"file_path": "a.txt", "changes": c}) for c in calls]
            assume(all(out.ok for out in told))
            workspace.close()
            outcomes.append(path.read_bytes())
    assert outcomes[0] == outcomes[1]


def test_an_offset_is_looked_for_once():
    data, fetched = b"".join(b"line %d\n" % number for number in range(200)), []

    def fetch(start, stop):
        fetched.append((start, stop))
        return data[start:stop]

    lines = Lines(fetch, len(data), b"\n")
    offsets = [*accumulate(map(len, data.splitlines(keepends=True)), initial=0)]
    assert [lines.offset(line) for line in range(201)] == offsets
    looked = len(fetched)
    assert [lines.offset(199) for _ in range(3)] == offsets[199:200] * 3
    assert len(fetched) == looked
    assert [lines.offset(line) for line in range(201)] == offsets
