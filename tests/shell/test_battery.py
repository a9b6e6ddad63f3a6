"""Everyday commands end as in a bare shell, but for what is meant."""

import pytest

from tests.shell import battery

pytestmark = pytest.mark.full

MOST_OTHER_CODES = {"default": 0.03, "developer": 0.03, "landlock": 0.06}
SAME = 0.88
ASKING = "ask the user"  # in each sentence about the sandbox


def test_a_few_everyday_commands_end_as_in_a_bare_shell():
    listed = battery.cases(battery.SHORT)
    judged(listed, battery.bare(listed), "default", most=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("level", battery.LEVELS)
def test_everyday_commands_end_as_in_a_bare_shell(level):
    listed = battery.cases()
    judged(listed, battery.bare(listed), level, most=MOST_OTHER_CODES[level])


def judged(listed, plain, level, most):
    pairs = list(zip(listed, plain, battery.confined(listed, level), strict=True))
    others = [case for case, one, other in pairs if one.code != other.code]
    assert not [case.command for case in others if level not in case.reasons], "without a reason"
    assert len(others) <= most * len(pairs), [case.command for case in others]
    assert sum(one == other for _, one, other in pairs) >= SAME * len(pairs)


@pytest.mark.parametrize(
    "level",
    ["default", *(pytest.param(level, marks=pytest.mark.slow) for level in battery.LEVELS[1:])],
)
def test_git_in_daily_work_hears_of_the_sandbox_only_where_it_sets_what_runs_code(level):
    *listed, sets_what_runs = battery.cases(name="verbs.txt")
    plain = battery.bare(listed)
    *confined, refused = battery.confined([*listed, sets_what_runs], level)
    for case, one, other in zip(listed, plain, confined, strict=True):
        told = (one.code, level in case.reasons)
        assert told == (other.code, ASKING in other.text), (case.command, other.text)
    assert ASKING in refused.text
