"""The judge of a workspace, and of what a host has left that was killed meanwhile."""

import contextlib

from fsagent_tools.policy import Policy
from fsagent_tools.process.closed import Survey
from fsagent_tools.process.judge import Judge
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.reach import Reach
from fsagent_tools.process.standing import Standing, left_by


def judging(survey: Survey, policy: Policy, programs: Programs) -> Judge:
    """Of a workspace, once what others left of it is judged."""
    standing = Standing(survey.root, policy, survey.since)
    for path in standing.others:
        recover(path)
    return Judge(survey, Reach(survey.root, programs), standing)


def recover(path: str) -> None:
    """Judge what a command has left whose host is gone, by its file; nothing for others."""
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        for root, rules, since, before in left_by(path):
            Judge(Survey(root, Policy(write_denied=rules), since), None, None).judge(before)
