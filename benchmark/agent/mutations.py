"""Small bugs, of the kinds that people write: one line of code, changed in one way."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Mutation(NamedTuple):
    """told: what an agent is told of the bug. change: the line with it; None where it cannot be."""

    kind: str
    told: str
    change: Callable[[str], str | None]


def swap(pattern: str, by: str) -> Callable[[str], str | None]:
    """The first place that fits becomes another text; none behind a quote or a comment sign."""
    looked_for = re.compile(pattern)

    def change(line: str) -> str | None:
        found = looked_for.search(line)
        if not found or re.search(r"[\"'#]", line[: found.start()]):
            return None
        return line[: found.start()] + found.expand(by) + line[found.end() :]

    return change


COMPARED = "a comparison is the wrong one"
JOINED = "a condition is joined wrongly"
CALLED = "the wrong function or method is called"
TURNED = "a condition is turned round"
COUNTED = "something is counted or indexed one off"
COMPUTED = "an arithmetic operator is the wrong one"
MUTATIONS = (
    Mutation("equal", COMPARED, swap(r" == ", " != ")),
    Mutation("unequal", COMPARED, swap(r" != ", " == ")),
    Mutation("less", COMPARED, swap(r" < ", " <= ")),
    Mutation("at most", COMPARED, swap(r" <= ", " < ")),
    Mutation("more", COMPARED, swap(r" > ", " >= ")),
    Mutation("at least", COMPARED, swap(r" >= ", " > ")),
    Mutation("and", JOINED, swap(r" and ", " or ")),
    Mutation("or", JOINED, swap(r" or ", " and ")),
    Mutation("not", TURNED, swap(r"\bif not ", "if ")),
    Mutation("is none", TURNED, swap(r" is None\b", " is not None")),
    Mutation("is not none", TURNED, swap(r" is not None\b", " is None")),
    Mutation("in", TURNED, swap(r"(if \w+) in ", r"\1 not in ")),
    Mutation("not in", TURNED, swap(r" not in ", " in ")),
    Mutation("true", "a constant is the wrong one", swap(r"\bTrue\b", "False")),
    Mutation("false", "a constant is the wrong one", swap(r"\bFalse\b", "True")),
    Mutation("plus", COMPUTED, swap(r" \+ ", " - ")),
    Mutation("minus", COMPUTED, swap(r" - ", " + ")),
    Mutation("times", COMPUTED, swap(r" \* ", " / ")),
    Mutation("adds", COMPUTED, swap(r" \+= ", " -= ")),
    Mutation("first", COUNTED, swap(r"\[0\]", "[1]")),
    Mutation("last", COUNTED, swap(r"\[-1\]", "[0]")),
    Mutation("one more", COUNTED, swap(r"\+ 1\b", "+ 2")),
    Mutation("slice", COUNTED, swap(r"\[1:\]", "[2:]")),
    Mutation("append", CALLED, swap(r"\.append\(", ".extend(")),
    Mutation("least", CALLED, swap(r"\bmin\(", "max(")),
    Mutation("most", CALLED, swap(r"\bmax\(", "min(")),
    Mutation("break", "a loop is left wrongly", swap(r"^(\s+)break$", r"\1continue")),
    Mutation("continue", "a loop is left wrongly", swap(r"^(\s+)continue$", r"\1break")),
    Mutation("arguments", "two arguments are swapped", swap(r"\((\w+), (\w+)\)$", r"(\2, \1)")),
    Mutation("return", "a result is lost", swap(r"^(\s+)return (?!None)\S.*$", r"\1return None")),
)
