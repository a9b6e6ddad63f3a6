"""A peer's Python is found by its name and believed by what it says; without one it is missing."""

import os
from dataclasses import replace

import pytest

from benchmark import environments
from benchmark.environments import Missing, environment
from benchmark.interpreters import BASE, HERE, interpreter
from benchmark.packs import PEERS

LATE = "3.99"
PEER = replace(next(peer for peer in PEERS if "openhands" in peer.name), python=LATE)


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A machine with no Python but those that a test puts there."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")

    def program(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return program


def says(version, executable="/opt/python"):
    return f"echo {version}; echo {executable}"


def test_this_python_needs_no_search(alone):
    assert interpreter(HERE) == BASE


def test_one_on_the_path_names_the_program_behind_a_shim(alone):
    alone(f"bin/python{LATE}", says(LATE, "/real/python"))
    assert str(interpreter(LATE)) == "/real/python"


def test_a_shim_without_a_version_leads_on_to_pyenv(alone):
    alone(f"bin/python{LATE}", "exit 127")
    there = alone(f"pyenv/versions/{LATE}.1/bin/python", says(LATE, "$0"))
    assert interpreter(LATE) == there


def test_one_that_only_has_the_name_is_not_taken(alone):
    alone(f"bin/python{LATE}", says("3.11"))
    assert interpreter(LATE) is None


def test_uv_is_asked_where_it_is(alone, tmp_path):
    kept = alone("kept/python", says(LATE, "$0"))
    alone("bin/uv", f"echo {kept}")
    assert interpreter(LATE) == kept


def test_a_peer_without_its_python_is_missing_and_leaves_no_environment(alone, tmp_path):
    with pytest.raises(Missing, match=f"needs Python {LATE}"):
        environment(PEER)
    assert not [*(tmp_path / "cache").rglob("installed")]
