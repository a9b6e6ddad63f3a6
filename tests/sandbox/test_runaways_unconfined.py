"""What runs away is ended without any confinement; without a keeper what stayed in its group is."""

import pytest

from tests.sandbox.runaways import FEW_PROCESSES, FORMS, STAYS, assert_nothing_is_left, run_away


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    return run_away(tmp_path_factory.mktemp("ws"), "none", FORMS, timeout=1)


@FEW_PROCESSES
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_of_what_runs_away(ended, form):
    assert_nothing_is_left(ended[form], "none")


@FEW_PROCESSES
@pytest.mark.parametrize("form", STAYS)
def test_nothing_is_left_of_a_group_that_runs_away(tmp_path, form):
    found = run_away(tmp_path, "bare", [form], timeout=1)  # there nobody reaps for the next one
    assert_nothing_is_left(found[form], "bare")
