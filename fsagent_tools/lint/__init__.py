"""Does a text parse, and what did a change make wrong?"""

from fsagent_tools.lint.checks import broken, has_parser, judge, syntax_problems
from fsagent_tools.lint.source import NotChecked
from fsagent_tools.lint.verdict import Report, ServerAnswer, ServerCheck, review

__all__ = ["NotChecked", "Report", "ServerAnswer", "ServerCheck"]
__all__ += ["broken", "has_parser", "judge", "review", "syntax_problems"]
