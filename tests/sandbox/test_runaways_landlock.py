"""What runs away is ended whole without namespaces, too."""

import pytest

from tests.sandbox.runaways import FEW_PROCESSES, FORMS, assert_nothing_is_left, run_away


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    return run_away(tmp_path_factory.mktemp("ws"), "landlock", FORMS, timeout=1)


@FEW_PROCESSES
@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_of_what_runs_away(ended, form):
    assert_nothing_is_left(ended[form], "landlock")
