"""One matcher for tools and policy rules."""

import pytest

from fsagent_tools.errors import InvalidGlob
from fsagent_tools.globs import Glob
from tests.conftest import soon


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("secrets", "secrets", True),
        ("secrets", "secrets/a/b", True),
        ("secrets/", "secrets/a", True),
        ("secrets/**", "secrets", True),
        ("secrets", "secretsx", False),
        ("secrets", "a/secrets", False),
        ("**/.env*", ".env.local", True),
        ("**/.env*", "a/.env", True),
        ("**/node_modules/**", "a/node_modules", True),
        ("**/node_modules/**", "a/node_modules/b/c", True),
        ("*.pem", "a.pem", True),
        ("*.pem", "a/b.pem", False),
        ("./src", "src/a", True),
        (".", "a/b", True),
        (".", ".", True),
        (".", "/etc/passwd", False),
        ("**", ".", True),
        ("/tmp/**", "/tmp", True),
        ("/tmp/**", "/tmp/a", True),
        ("/tmp", "/tmpx", False),
        ("/", "/etc", True),
        ("a b/[x]", "a b/x/y", True),
    ],
)
def test_a_rule_covers_what_it_names_and_all_beneath(rule, path, covered):
    assert Glob(rule, covers=True).matches(path) is covered


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 200 + "*b", "a" * 255),
        ("**/a/" * 50 + "b", "a/" * 500 + "c"),
        ("**/*a*a*a/**/*a*a*b/**/c", ("a" * 20 + "/") * 200 + "d"),
        ("[a-z]*" * 100 + "Z", "q" * 255),
        ("{" + ",".join("*a" * n for n in range(1, 60)) + "}b", "a" * 255),
        ("**/" * 200 + "*a*a*a*a*a*b", "a" * 255),
    ],
)
def test_hostile_patterns_are_told_apart_in_time(pattern, path):
    with soon():
        assert not Glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "empty"),
        ("\0", "NUL"),
        ("[", "not closed"),
        ("a[]", "not closed"),
        ("{a,{b}", "not closed"),
        ("a\\", "backslash"),
        ("{a,b}" * 10, "more than 1,000"),
        ("[[:alpha:]]", "[:alpha:]"),
        ("a" * 4097, "4,096"),
    ],
)
def test_what_is_no_glob_is_refused_with_the_reason(pattern, reason):
    with pytest.raises(InvalidGlob, match=reason.replace("[", r"\[")):
        Glob(pattern)


def test_wildcards_leave_dotfiles_alone_on_request():
    shell = Glob("**/*", dotfiles=False)
    assert shell.matches("a/b")
    assert not shell.matches("a/.b")
    assert not shell.matches(".a/b")
    assert Glob(".a/**/.b", dotfiles=False).matches(".a/c/.b")
    assert not Glob("[.]a", dotfiles=False).matches(".a")


def test_a_pattern_knows_where_its_matches_can_lie():
    glob = Glob(r"src/\[a]/**/{x,.y}*.py")
    assert glob.lead == ("src", "[a]")
    assert Glob(r"src/\[a]/*.py").lead == ("src", "[a]")
    assert glob.literals == {"src", "[a]"}
    assert glob.names_hidden
    assert (glob.depth, Glob("a/{b,c/d}").depth) == (None, 3)


@pytest.mark.parametrize(
    ("pattern", "endings"),
    [
        ("**/*.py", (".py",)),
        ("src/a?b*c[.]d*.tar.gz", (".tar.gz",)),
        ("**/*.{js,t s}", (".js", ".t s")),
        ("a/README", ("README",)),
        (r"*\*\[x", ("*[x",)),
        ("**", ("",)),
        ("a/**", ("",)),
        ("*.[ch]", ("",)),
        ("**/x?", ("",)),
        ("**/*", ("",)),
    ],
)
def test_a_pattern_knows_how_names_of_its_matches_end(pattern, endings):
    assert Glob(pattern).endings == endings


def test_a_rule_that_covers_says_nothing_about_endings():
    assert "secrets/key.pem".endswith(Glob("secrets", covers=True).endings)
