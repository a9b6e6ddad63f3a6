"""The interpreter that stands in for the project's own."""

import os
import shutil
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


def test_a_fork_does_not_wait_for_a_thread_of_its_parent():
    with standin._making:
        if not (child := os.fork()):
            os._exit(0 if standin._making.acquire(blocking=False) else 1)
    assert os.waitpid(child, 0)[1] == 0
