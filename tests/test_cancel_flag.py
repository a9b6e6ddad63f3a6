"""A flag that wakes who waits for something else."""

import threading

from fsagent_tools.call import CancelFlag
from tests.conftest import PATIENCE


def test_nobody_is_woken_who_waits_no_more():
    flag, waking, left, woken = CancelFlag(), threading.Event(), threading.Event(), []

    def wake():
        waking.set()
        left.wait(0.2)  # whoever waits goes on to something else, if it can
        woken.append(left.is_set())

    setter = threading.Thread(target=flag.set)
    with flag.waking(wake):
        setter.start()
        assert waking.wait(PATIENCE)
    left.set()
    setter.join()
    assert woken == [False]


def test_who_begins_to_wait_after_the_flag_was_set_finds_it_set():
    flag = CancelFlag()
    flag.set()
    with flag.waking(lambda: None):
        assert flag.is_set()
