"""What runs away is gone in time on a machine that has none: 100 processes keep it busy, and the
keeper's looks at /proc take long.

In one file, so that no two of them run at the same time.
"""

import pytest

from tests.sandbox.runaways import FEW_PROCESSES, FORMS, REPO, assert_nothing_is_left, run_away

BUSY = 100
SLOW_KEEPER = f"""
import _socket, sys, time
sys.path.insert(0, {str(REPO)!r})
from fsagent_tools.sandbox import processes
descendants = processes.descendants
processes.descendants = lambda pid: time.sleep(3) or descendants(pid)
from fsagent_tools.process.keeper import Tending
Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
"""


@FEW_PROCESSES
@pytest.mark.slow
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("form", FORMS)
def test_what_runs_away_is_gone_in_time(tmp_path, form, level):
    slow_keeper, root, timeout = tmp_path / "keeper.py", tmp_path / "ws", 2
    slow_keeper.write_text(SLOW_KEEPER)
    root.mkdir()
    found = run_away(root, level, [form], timeout, slow_keeper, BUSY)[form]
    assert_nothing_is_left(found, level)
    if level == "namespaces":
        assert found["gone"] < 2
        assert found["took"] < timeout + 5
