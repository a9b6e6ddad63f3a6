"""The interpreter that stands in for the project's own."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from fsagent_tools.lsp.standin import stand_in


def test_all_who_ask_at_once_get_the_one_that_stays():
    together = Barrier(16)

    def ask(_):
        together.wait()
        return stand_in("3.99", sys.executable)

    with ThreadPoolExecutor(16) as threads:
        (folder,) = set(threads.map(ask, range(16)))
    assert (folder / "bin" / "python").exists()
