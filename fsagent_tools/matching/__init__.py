"""Find-and-replace for text quoted from memory: exact, else the first weaker strategy that fits."""

from fsagent_tools.matching.finding import Occurrences, find
from fsagent_tools.matching.fuzzy import Evidence, Parses
from fsagent_tools.matching.spans import Found, Replacement, Span
from fsagent_tools.matching.suggest import Suggestion, suggest

__all__ = [
    "Evidence",
    "Found",
    "Occurrences",
    "Parses",
    "Replacement",
    "Span",
    "Suggestion",
    "find",
    "suggest",
]
