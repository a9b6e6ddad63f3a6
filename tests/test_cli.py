"""The command line: configuration and approval, as a person uses them."""

import os
import pty
import subprocess
import sys

import pytest


@pytest.fixture
def fsagent(tmp_path):
    """Runs the command in a project of its own; `user` is the user's file."""
    (tmp_path / "project").mkdir()
    (tmp_path / "home/fsagent").mkdir(parents=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FSAGENT_")}

    def run(*argv, env=None, **options):
        return subprocess.run(
            [sys.executable, "-m", "fsagent_tools.cli", *argv],
            cwd=tmp_path / "project",
            env={**clean, "XDG_CONFIG_HOME": str(tmp_path / "home"), **(env or {})},
            text=True,
            capture_output="stdout" not in options,
            timeout=60,
            **options,
        )

    run.user, run.project = tmp_path / "home/fsagent/config.yaml", tmp_path / "project"
    return run


def test_settings_are_shown_with_their_origin(fsagent):
    assert "nothing is configured" in fsagent("config", "show").stdout
    fsagent.user.write_text("max_file_size: 1MB\ndenied_paths: [a]\n")
    (fsagent.project / ".fsagent.yaml").write_text("denied_paths: [b]\n")
    shown = fsagent("config", "show", "--origin", env={"FSAGENT_READONLY": "1"}).stdout
    assert f"max_file_size: '1MB'    # {fsagent.user}" in shown
    assert f"denied_paths: ['a', 'b']    # {fsagent.user}, tightened by .fsagent.yaml" in shown
    assert "readonly: True    # FSAGENT_READONLY" in shown
    assert "#" not in fsagent("config", "show").stdout


def test_a_file_is_checked(fsagent):
    file = fsagent.project / "c.yaml"
    file.write_text("readonly: true\n")
    fine = fsagent("config", "check", "c.yaml")
    assert (fine.returncode, fine.stdout) == (0, "c.yaml: fine\n")
    file.write_text("readonl: true\n")
    wrong = fsagent("config", "check", "c.yaml")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("c.yaml: readonl: there is no such key. There are: readonly")


def test_a_configured_policy_holds_for_commands(fsagent):
    fsagent.user.write_text("readonly: true\ntoolset: filesystem\n")
    refused = fsagent("mkdir", "d")
    assert refused.returncode == 1
    assert "read-only" in refused.stderr
    file = fsagent.project / "loose.yaml"
    file.write_text("readonly: false\n")
    assert fsagent("mkdir", "d", "--config", "loose.yaml").returncode == 0
    assert (fsagent.project / "d").is_dir()


def test_a_wrong_configuration_stops_every_command(fsagent):
    (fsagent.project / ".fsagent.yaml").write_text("servers: {python: [./evil]}\n")
    stopped = fsagent("ls")
    assert stopped.returncode == 2
    assert ".fsagent.yaml: servers: a project's own file may not set this" in stopped.stderr


def test_nobody_at_the_terminal_approves_nothing(fsagent):
    refused = fsagent("--approve", "write", "a.txt", "hello", stdin=subprocess.DEVNULL)
    assert refused.returncode == 1
    assert "+hello" in refused.stderr
    assert "nobody is at the terminal" in refused.stderr
    assert not (fsagent.project / "a.txt").exists()


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("\n", False)])
def test_the_terminal_is_asked(answer, written, fsagent):
    master, slave = pty.openpty()
    os.write(master, answer.encode())
    done = fsagent("write", "a.txt", "hello\x1b[2J", "--approve", stdin=slave)
    os.close(slave)
    os.close(master)
    assert "Allow write a.txt? [y/N]" in done.stderr
    assert "hello\\x1b[2J" in done.stderr
    assert (fsagent.project / "a.txt").exists() is written
    assert done.returncode == (0 if written else 1)
