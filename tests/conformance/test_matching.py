"""The engine against cases from public test suites and real commits."""

import re
from collections import Counter

import pytest

from benchmark.slips import with_typo
from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import InvalidArguments, MultipleMatches, NoMatch, ToolError
from tests.conformance.rows import at_least, rows

pytestmark = pytest.mark.full

NOT_EXPECTED = {
    "policy_differs", "first_match_policy", "beyond_spec", "risky", "line_number_prefix",
    "disabled_upstream", "line_semantics", "ambiguous_without_hint", "derived",
}  # fmt: skip
CONTRADICTING = {  # rows that a document rule forbids
    **dict.fromkeys(
        ("E0199", "E0202", "E0205", "E0206", "E0218", "E0220", "E0224"),
        "keeps the indentation sent; after an indentation-agnostic match the file's is used",
    ),
    **dict.fromkeys(("own-E14", "E0386"), "has other punctuation: none of the six strategies"),
    "E0097": "has blank lines around it: none of the six strategies",
    "M0023": "breaks lines elsewhere: none of the six strategies",
    "M0017": "inserts at the start for an empty old_string; that is an error in a file with text",
}
REFUSED = {  # core rows that are refused, because what they ask for is a slip far more often
    "E0038": "a final line ending in new_string alone leaves a blank line",
    "E0095": "white space differs in a quote that is a part of a line",
    "E0096": "white space differs in a quote that is a part of a line",
}
REFUSALS = {
    "not_found": NoMatch,
    "multiple_matches": MultipleMatches,
    "identical": InvalidArguments,
    "empty_old": InvalidArguments,
}


def core(name):
    return [row for row in rows(name) if not NOT_EXPECTED & {*row["tags"]}]


def edit(row):
    """The text after the row's edits; raises what the engine raises."""
    levels = [float(tag.partition("=")[2]) for tag in row["tags"] if tag.startswith("threshold=")]
    text = row["original"].encode()
    for change in row.get("edits", [row]):
        found = find(
            text,
            change["old_string"],
            change["new_string"],
            occurrences="all" if change.get("replace_all") else "unique",
            evidence=Evidence(levels[0], typos_only=False) if levels else Evidence(),
        )
        text = found.apply(text)
    return text.decode()


def is_right(row):
    try:
        result = edit(row)
    except ToolError as error:
        return row["expect_kind"] == "error" and isinstance(error, REFUSALS[row["expect"]])
    return {
        "result": result == row["expect"],
        "contains": str(row["expect"]) in result,
        "success": True,
        "error": False,
    }[row["expect_kind"]]


@pytest.mark.parametrize(("name", "share"), [("edit_cases", 0.98), ("multi_edit_cases", 0.95)])
def test_core_rows_come_out_as_expected(name, share):
    counted = [row for row in core(name) if row["id"] not in CONTRADICTING]
    wrong = [row["id"] for row in counted if not is_right(row)]
    assert len(wrong) <= (1 - share) * len(counted), wrong


def test_only_the_listed_rows_are_refused():
    counted = core("edit_cases") + core("multi_edit_cases")
    wrong = {row["id"] for row in counted if row["id"] not in CONTRADICTING and not is_right(row)}
    assert wrong <= {*REFUSED}
    assert len(wrong) <= 0.02 * len(counted)


def test_every_error_row_and_negative_is_refused():
    refused = [
        r for r in core("edit_cases") + core("multi_edit_cases") if r["expect_kind"] == "error"
    ]
    assert refused
    assert not [row["id"] for row in refused if not is_right(row)]


def test_the_contradicting_rows_still_contradict():
    known = {row["id"]: row for row in core("edit_cases") + core("multi_edit_cases")}
    assert not [name for name in CONTRADICTING if name in known and is_right(known[name])]


# Real commits: (before, old with context, new with context) of each hunk at a unique place.


def hunks():
    for row in rows("real_edits"):
        for hunk in row["hunks"]:
            old, new = hunk["old_ctx"], hunk["new_ctx"]
            if old != new and row["before"].count(old) == 1:
                yield row, old, new


def by_line(change):
    return lambda old, new: tuple("\n".join(map(change, t.split("\n"))) for t in (old, new))


def dedented(old, new):
    """One level less, where every line has one."""
    lines = [line for text in (old, new) for line in text.split("\n") if line.strip()]
    if not all(line.startswith("    ") for line in lines):
        return old, new
    return by_line(lambda line: line[4:] if line.strip() else line)(old, new)


def crlf(old, new):
    return tuple(t.replace("\r\n", "\n").replace("\n", "\r\n") for t in (old, new))


NOISE = {
    "trailing blanks dropped": by_line(str.rstrip),
    "tabs to spaces": by_line(lambda line: line.replace("\t", "    ")),
    "one level dedented": dedented,
    "one typo": with_typo,
    "CRLF payload": crlf,
}


def test_hunks_in_order_make_the_commit():
    for row in rows("real_edits"):
        text, whole = row["before"].encode(), True
        for hunk in row["hunks"]:
            old, new = hunk["old_ctx"], hunk["new_ctx"]
            whole = whole and text.decode().count(old) == 1
            if whole:
                text = find(text, old, new).apply(text)
        if whole:
            assert text.decode() == row["after"], row["id"]


def test_each_hunk_is_applied_to_the_byte():
    applied = 0
    for row, old, new in hunks():
        found = find(row["before"].encode(), old, new)
        assert found.apply(row["before"].encode()).decode() == row["before"].replace(old, new)
        applied += 1
    assert applied > at_least(20, 200)


@pytest.mark.parametrize("noise", NOISE)
def test_noisy_hunks_land_in_the_right_place_or_nowhere(noise):
    told = Counter()
    for row, old, new in hunks():
        sent_old, sent_new = NOISE[noise](old, new)
        if sent_old == sent_new or row["before"].count(sent_old) > 1:
            continue
        try:
            found = find(row["before"].encode(), sent_old, sent_new)
        except ToolError as error:
            told[error.code] += 1
            continue
        first = row["before"][: row["before"].index(old)].count("\n")
        last = first + old.count("\n")
        assert all(first <= hunk.start <= hunk.stop <= last + 1 for hunk in found.hunks), row["id"]
        right = found.apply(row["before"].encode()).decode() == row["before"].replace(old, new)
        told["right" if right else "different"] += 1
    assert told["right"] >= 0.95 * told.total(), told


def tabbed(text):
    return re.sub(r"(?m)^(?: {4})+", lambda m: "\t" * (len(m.group()) // 4), text)


def blank_ended(text):
    return re.sub(r"(?m)(?<=\S)$", "  ", text)


def without_line_ends(text):
    return [line.rstrip() for line in text.split("\n")]


@pytest.mark.parametrize(
    ("worn", "seen"), [(tabbed, str), (blank_ended, without_line_ends)], ids=["tabs", "blanks"]
)
def test_clean_quotes_land_in_files_with_tabs_and_trailing_blanks(worn, seen):
    told = Counter()
    for row, old, new in hunks():
        text = worn(row["before"]).encode()
        if old.encode() in text:
            continue
        try:
            result = find(text, old, new).apply(text).decode()
        except ToolError as error:
            told[error.code] += 1
            continue
        wanted = worn(row["before"].replace(old, new))
        told["right" if seen(result) == seen(wanted) else "different"] += 1
    assert told.total() > at_least(15, 50)
    assert told["right"] >= 0.95 * (told.total() - told["MULTIPLE_MATCHES"]), told


def stale_edits():
    """(text, old, new): quotes of a text from before the commit that changed it."""
    for row in rows("real_edits"):
        for hunk in row["hunks"]:
            lines = hunk["old_ctx"].split("\n")
            longest = max(range(len(lines)), key=lambda i: len(lines[i]))
            new = "\n".join([*lines[:longest], "CHANGED", *lines[longest + 1 :]])
            if hunk["old_ctx"] not in row["after"]:
                yield row["after"], hunk["old_ctx"], new


def test_few_stale_edits_are_applied_silently():
    told = Counter()
    for text, old, new in stale_edits():
        try:
            told[find(text.encode(), old, new).strategy] += 1
        except ToolError:
            told["refused"] += 1
    assert told.total() > at_least(15, 100)
    assert told.total() - told["refused"] <= 0.10 * told.total(), told


def test_edits_of_another_commit_of_the_file_are_rarely_applied():
    texts = {}
    for row in rows("real_edits"):
        texts.setdefault((row["repo"], row["path"]), []).append(row)
    told = Counter()
    for row, old, new in hunks():
        for other in texts[row["repo"], row["path"]]:
            if other is row or old in other["before"]:
                continue
            try:
                told[find(other["before"].encode(), old, new).strategy] += 1
            except ToolError:
                told["refused"] += 1
    assert told.total() > at_least(15, 50)
    assert told.total() - told["refused"] <= 0.10 * told.total(), told
