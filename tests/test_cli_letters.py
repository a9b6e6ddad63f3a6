"""What one types by habit: the letters of rg and ls, colours, a server that is started anywhere."""

import os
import pty
import re
import subprocess
import sys

import pytest

from fsagent_tools.cli import main

pytestmark = pytest.mark.full

CLI = [sys.executable, "-m", "fsagent_tools.cli"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("one\nParse\nthree\nreparse\n")
    (tmp_path / "src/b.py").write_text("parsed\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys, *words):
    assert main(words) == 0, capsys.readouterr().err
    return re.sub(r"\[LID:\w+\][:-]?", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize("toolset", ["workspace", "filesystem"])
@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("-n Parse", ["src/a.py:2:Parse"]),
        ("-rn -i ^PARSE src/a.py", ["src/a.py:2:Parse"]),
        ("-lri parse", ["src/a.py", "src/b.py"]),
        ("-c -i parse", ["src/a.py:2", "src/b.py:1"]),
        ("-A 1 Parse", ["src/a.py:2:Parse", "src/a.py-3-three"]),
        ("-B1 Parse", ["src/a.py-1-one", "src/a.py:2:Parse"]),
        ("-C1 -B0 Parse", ["src/a.py-1-one", "src/a.py:2:Parse", "src/a.py-3-three"]),
        ("-g b.* parse", ["src/b.py:1:parsed"]),
        ("-t py parsed", ["src/b.py:1:parsed"]),
        ("-F pars.d src", []),
    ],
)
def test_grep_has_the_letters_of_rg(here, capsys, toolset, words, lines):
    if lines:
        assert printed(capsys, "--toolset", toolset, "grep", *words.split()) == lines
    else:
        assert main(["--toolset", toolset, "grep", *words.split()]) == 1


def test_ls_has_the_letters_of_ls(here, capsys):
    (here / ".hidden").write_text("")
    assert printed(capsys, "ls", "-la") == ["src/", ".hidden (0 bytes)"]
    assert printed(capsys, "ls", "-R", "src") == ["a.py", "b.py"]


def on_a_terminal(root, *words, **environment):
    """What the command prints to one."""
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    master, slave = pty.openpty()
    subprocess.run([*CLI, *words], cwd=root, stdout=slave, env={**clean, **environment}, check=True)
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    os.close(master)
    return shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("grep Parse", "\x1b[35msrc/a.py\x1b[0m\r\n\x1b[32m2\x1b[0m "),
        ("grep Parse --toolset workspace", "\x1b[35msrc/a.py\x1b[0m:\x1b[32m2\x1b[0m:"),
        ("ls", "\x1b[34msrc/\x1b[0m"),
        ("read src/a.py", "\x1b[0m\tone"),
        ("read src/a.py --toolset workspace", "\x1b[0m one"),
    ],
)
def test_answers_are_coloured_on_a_terminal(here, words, shown):
    assert shown in on_a_terminal(here, *words.split())
    assert "\x1b" not in on_a_terminal(here, *words.split(), NO_COLOR="1")
    plain = subprocess.run([*CLI, *words.split()], cwd=here, capture_output=True, check=True)
    assert b"\x1b" not in plain.stdout


def test_a_server_outside_a_project_wants_its_root_by_name(here, capsys):
    assert main(["serve"]) == 2
    told = (
        f"fsagent: {here} is not a project: it has no .git and no .fsagent.yaml. Name a directory"
    )
    assert capsys.readouterr().err.startswith(told)
    with pytest.raises(SystemExit, match="0"):
        main(["serve", "--help"])
