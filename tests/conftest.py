"""What tests of every part share."""

import shutil
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1] / "examples" / "project"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="Write tests/golden/ anew from the code."
    )


@pytest.fixture
def shop(tmp_path):
    """A fresh copy of the failing project of the examples."""
    folder = tmp_path / "shop"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__", ".ai"))
    return folder
