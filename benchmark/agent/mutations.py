"""Small bugs, of the kinds that people write: one line of code, changed in one way."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Mutation(NamedTuple):
    """told: what an agent is told of the bug. right: a line that it fits.

    change: a line with the bug; None where it cannot be.
    """

    kind: str
    told: str
    right: str
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
LEFT = "a loop is left wrongly"
LOST = "a result is lost"
SWAPPED = "two arguments are swapped"
MUTATIONS = (
    Mutation("equal", COMPARED, "if a == b:", swap(r" == ", " != ")),
    Mutation("unequal", COMPARED, "if a != b:", swap(r" != ", " == ")),
    Mutation("less", COMPARED, "if a < b:", swap(r" < ", " <= ")),
    Mutation("at most", COMPARED, "if a <= b:", swap(r" <= ", " < ")),
    Mutation("more", COMPARED, "if a > b:", swap(r" > ", " >= ")),
    Mutation("at least", COMPARED, "if a >= b:", swap(r" >= ", " > ")),
    Mutation("and", JOINED, "if a and b:", swap(r" and ", " or ")),
    Mutation("or", JOINED, "if a or b:", swap(r" or ", " and ")),
    Mutation("not", TURNED, "if not a:", swap(r"\bif not ", "if ")),
    Mutation("is none", TURNED, "if a is None:", swap(r" is None\b", " is not None")),
    Mutation("is not none", TURNED, "if a is not None:", swap(r" is not None\b", " is None")),
    Mutation("in", TURNED, "if a in b:", swap(r"(if \w+) in ", r"\1 not in ")),
    Mutation("not in", TURNED, "if a not in b:", swap(r" not in ", " in ")),
    Mutation("true", "a constant is the wrong one", "a = True", swap(r"\bTrue\b", "False")),
    Mutation("false", "a constant is the wrong one", "a = False", swap(r"\bFalse\b", "True")),
    Mutation("plus", COMPUTED, "a = a + b", swap(r" \+ ", " - ")),
    Mutation("minus", COMPUTED, "a = a - b", swap(r" - ", " + ")),
    Mutation("times", COMPUTED, "a = a * b", swap(r" \* ", " / ")),
    Mutation("adds", COMPUTED, "a += b", swap(r" \+= ", " -= ")),
    Mutation("first", COUNTED, "a = b[0]", swap(r"\[0\]", "[1]")),
    Mutation("last", COUNTED, "a = b[-1]", swap(r"\[-1\]", "[0]")),
    Mutation("one more", COUNTED, "a = b + 1", swap(r"\+ 1\b", "+ 2")),
    Mutation("slice", COUNTED, "a = b[1:]", swap(r"\[1:\]", "[2:]")),
    Mutation("append", CALLED, "a.append(b)", swap(r"\.append\(", ".extend(")),
    Mutation("least", CALLED, "a = min(a, b, 1)", swap(r"\bmin\(", "max(")),
    Mutation("most", CALLED, "a = max(a, b, 1)", swap(r"\bmax\(", "min(")),
    Mutation("break", LEFT, "break", swap(r"^(\s+)break$", r"\1continue")),
    Mutation("continue", LEFT, "continue", swap(r"^(\s+)continue$", r"\1break")),
    Mutation("arguments", SWAPPED, "a = f(a, b)", swap(r"\((\w+), (\w+)\)$", r"(\2, \1)")),
    Mutation("return", LOST, "return a", swap(r"^(\s+)return (?!None)\S.*$", r"\1return None")),
)


def example(kind: str) -> tuple[str, str] | None:
    """A line as it is right, and with the bug of a kind; None of a kind that is not known."""
    for mutation in MUTATIONS:
        if mutation.kind == kind:
            return mutation.right, (mutation.change(f"    {mutation.right}") or "").strip()
    return None
