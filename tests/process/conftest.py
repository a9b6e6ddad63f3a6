import pytest

from fsagent_tools.process.environment import environment
from fsagent_tools.process.launcher import Launcher, View
from fsagent_tools.process.running import run
from fsagent_tools.process.script import Command
from fsagent_tools.sandbox.profile import UNCONFINED, Profile
from tests.conftest import PATIENCE


@pytest.fixture(params=["namespaces", "adoption"])
def sh(request, tmp_path):
    """Run a script in a fresh directory: in namespaces, and without any confinement."""
    yield from _shell(tmp_path, request.param == "namespaces")


@pytest.fixture
def bare_sh(tmp_path, lacking):
    """Run a script as a child of this process, which knows its process group and no more."""
    lacking("keeper")
    yield from _shell(tmp_path, False)


def _shell(tmp_path, namespaces):
    here = str(tmp_path)
    profile = Profile((here,)) if namespaces else UNCONFINED
    starter = Launcher(View((here,)))

    def start(script, timeout=PATIENCE, **settings):
        command = Command(script, here, environment((), here), profile, **settings)
        done = run(command, timeout, starter)
        if namespaces and not done.sandbox.startswith("namespaces"):
            pytest.skip("this system allows no namespaces here")
        return done

    start.close, start.launcher = starter.close, starter
    yield start
    starter.close()
