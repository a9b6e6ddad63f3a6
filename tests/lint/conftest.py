import pytest

from fsagent_tools import lint
from tests.conftest import PATIENCE


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    monkeypatch.setattr(lint.validators, "LINT_SECONDS", PATIENCE)
