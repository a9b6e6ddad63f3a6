"""The interpreter that stands in for the project's own."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from fsagent_tools.lsp import standin
from fsagent_tools.lsp.standin import stand_in


def test_all_who_ask_at_once_get_the_one_that_stays():
    together = Barrier(16)

    def ask(_):
        together.wait()
        return stand_in("3.99", sys.executable)

    with ThreadPoolExecutor(16) as threads:
        (folder,) = set(threads.map(ask, range(16)))
    assert (folder / "bin" / "python").exists()


def test_what_went_with_the_process_that_made_it_is_made_again():
    first = stand_in("3.98", sys.executable)
    shutil.rmtree(first)
    again = stand_in("3.98", sys.executable)
    assert (again / "bin" / "python").exists()
    assert stand_in("3.98", sys.executable) == again


def test_it_tells_the_packages_of_the_project_and_imports_none(tmp_path):
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    program = stand_in("3.97", sys.executable, (tmp_path,)) / "bin" / "python"
    told = run([program, "-c", "import sys; print(sys.path[-1], sys.version_info[:2])"])
    assert told == f"{tmp_path} (3, 97)\n"
    again = "import importlib; importlib.invalidate_caches()\ntry: import trap\n"
    assert run([program, "-c", again + "except ImportError: print('none')"]) == "none\n"
    assert not (tmp_path / "sprung").exists()


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_fork_does_not_wait_for_a_thread_of_its_parent():
    with standin._making:
        if not (child := os.fork()):
            os._exit(0 if standin._making.acquire(blocking=False) else 1)
    assert os.waitpid(child, 0)[1] == 0
