"""What a line of bash is made of, as a host's rules see it: nothing is hidden in it."""

import subprocess
import sys

import pytest

from fsagent_tools import Effect, Workspace, simple_commands, toolset

pytest.importorskip("tree_sitter_bash", reason="parses commands")


@pytest.mark.parametrize(("line", "words"), [
    ("git status", [("git", "status")]),
    ("git status && ls -la | head -3; echo 'a b' \"c d\"",
     [("git", "status"), ("ls", "-la"), ("head", "-3"), ("echo", "a b", "c d")]),
    ("(cd a; ls) & ! true", [("cd", "a"), ("ls",), ("true",)]),
    ("{ ls; }\npwd", [("ls",), ("pwd",)]),
    ("echo a'b c'd --x=1", [("echo", "ab cd", "--x=1")]),
    ("echo ''", [("echo", "")]),
])  # fmt: skip
def test_words_are_what_the_programs_get(line, words):
    assert [part.words for part in simple_commands(line)] == words


@pytest.mark.parametrize("line", [
    "ls $(rm -rf x)", "ls `rm x`", "ls <(rm x)", "ls $X", "ls ${X:-y}", 'ls "$X"', "ls *.py",
    "ls ~", "ls {a,b}", "ls a\\ b", "ls > out", "ls 2>&1", "cat <<E\nx\nE", "cat <<< x", "X=1 ls",
    "X=1", "PATH=/evil", "export X=1", "if true; then rm x; fi", "for f in a; do rm $f; done",
    "while true; do ls; done", "f() { rm x; }", "function f { ls; }", "[[ -f x ]]", "[ -f x ]",
    "case a in a) ls;; esac", "((x=1))", "ls $'a\\x20b'", 'ls $"a"', "ls # rest",
    "ls\\\n-la", "ls |",
    "ls 'a", 'ls "a', "ls )", "", " ", "a\0b", "ls " + "x" * 70_000, "ls \ud800", "$x", "\"$x\" y",
    "ls a?b", "ls [ab]", "ls !(x)", "coproc { ls; }", "unset X", "declare -x A=b", "ls &> x",
])  # fmt: skip
def test_what_cannot_be_told_has_no_words(line):
    parts = simple_commands(line)
    assert parts
    assert any(not part.words for part in parts)
    assert not any("rm" in part.words for part in parts)


def test_all_of_a_line_stands_in_its_parts():
    parts = simple_commands("git status; X=1 make; rm -rf 'a b'")
    assert [part.text for part in parts] == ["git status", "X=1 make", "rm -rf 'a b'"]
    assert [bool(part.words) for part in parts] == [True, False, True]


def test_a_rule_of_a_host_matches_each_command_of_a_request(tmp_path):
    asked = []

    def approve(request):
        if request.effect is Effect.EXECUTE:
            if all(part.words[:1] == ("echo",) for part in request.commands):
                return True
            asked.extend(part.text for part in request.commands)
        return "no"

    bash = toolset("workspace").bind(Workspace(tmp_path, approve=approve))["bash"]
    assert bash.call({"command": "echo a; echo 'b c'"}).ok
    assert not asked
    assert bash.call({"command": "echo a; touch b"}).code == "APPROVAL_DENIED"
    assert asked == ["echo a", "touch b"]
    assert bash.call({"command": "echo $(touch b)"}).code == "APPROVAL_DENIED"
    assert not (tmp_path / "b").exists()


def test_without_the_parser_nothing_is_guessed():
    script = (
        "import sys; sys.modules['tree_sitter_bash'] = None\n"
        "from fsagent_tools import simple_commands\n"
        "try: simple_commands('ls')\n"
        "except Exception as error: print(error.code, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("MISSING_DEPENDENCY")
    assert "fsagent-tools[commands]" in done.stdout
