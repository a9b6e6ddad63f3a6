"""Glob cases of git, ripgrep, pathspec and deepagents that fit these semantics."""

import pytest

from fsagent_tools.errors import InvalidGlob
from fsagent_tools.globs import GLOBSTAR, Glob
from fsagent_tools.search.walk import Ignores
from tests.conformance.rows import at_least, rows

pytestmark = pytest.mark.full

EXCEPTIONS = {
    "G0074": "braces may hold an empty alternative, as in a shell",
    "G0082": "a class never matches a slash, as in git",
    **dict.fromkeys(("G0087", "G0088", "G0089"), "a backslash always escapes"),
    "G0198": "an empty pattern is refused",
    **dict.fromkeys(("G0450", "G0453", "G0456"), "no POSIX classes"),
    **dict.fromkeys(("G0776", "G0826", "G0860", "G0868"), "no hidden directory is entered"),
    **dict.fromkeys(("G0874", "G0888", "G0895"), "no hidden directory is entered"),
    "G0806": "an absolute pattern is absolute",
}


def of_kind(kind):
    return [row for row in rows("glob_cases") if row["kind"] == kind]


def fits(row):
    """Globstar on, `*` stops at a slash (or no slash is there), no foreign syntax."""
    options = row["options"]
    star_is_ours = not options.get("star_crosses_slash") or "/" not in row["path"]
    foreign = options.get("posix_class") or options.get("extglob") or options.get("ignorecase")
    return bool(options.get("globstar")) and star_is_ours and not foreign


def matched(row):
    pattern = row["pattern"]
    if row["options"].get("matchbase") and "/" not in pattern:
        pattern = f"{GLOBSTAR}/{pattern}"
    try:
        return Glob(pattern, row["options"].get("dotmatch", True)).matches(row["path"])
    except InvalidGlob:
        return False


def test_rows_that_fit_match_as_their_suites_say():
    ours = [row for row in of_kind("glob") if fits(row)]
    wrong = {row["id"] for row in ours if matched(row) != row["match"]}
    assert len(ours) > at_least(25, 300)
    assert wrong <= set(EXCEPTIONS)
    assert EXCEPTIONS.keys() & {row["id"] for row in ours} == wrong, "an exception is not needed"


def test_gitignore_rows_hide_what_git_hides():
    ours = of_kind("gitignore")
    wrong = []
    for row in ours:
        path, is_directory = row["path"].removeprefix("./").rstrip("/"), row["is_dir"]
        ignores = Ignores().beneath("", row["pattern"])
        parts = path.split("/")
        parents = ["/".join(parts[:n]) for n in range(1, len(parts))]
        hidden = any(ignores.hides(p, is_directory=True) for p in parents)
        hidden = hidden or ignores.hides(path, is_directory=is_directory)
        expected = row["match"] if row.get("git_check") is None else row["git_check"]
        if hidden != expected:
            wrong.append(row["id"])
    assert len(wrong) <= 0.02 * len(ours), wrong
