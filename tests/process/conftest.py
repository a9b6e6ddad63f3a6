import pytest

from fsagent_tools.process import Command, environment, run
from tests.conftest import PATIENCE


@pytest.fixture
def sh(tmp_path):
    """Run a script unconfined in a fresh directory."""

    def start(script, timeout=PATIENCE, **settings):
        env = environment((), str(tmp_path))
        return run(Command(script, str(tmp_path), env, **settings), timeout)

    return start
