"""Regexes written for ripgrep (Rust's dialect) in Python's; what Python lacks is refused."""

import re

from fsagent_tools.errors import InvalidRegex

POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r"\t ", "digit": "0-9", "lower": "a-z",
    "space": r"\s", "upper": "A-Z", "word": r"\w", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\x\{(?P<hex>[0-9A-Fa-f]{1,6})\}|\\(?P<escape>.)"
    r"|\[:(?P<not>\^?)(?P<posix>[a-z]+):\]"
    r"|\((?P<group>\?(?:P?<(?![=!])\w+>|P=|<?[=!]|>|\(|[a-zA-Z-]*[:)]))"
    r"|(?P<count>\{[^}]*\}?)|(?P<other>.)",
    re.DOTALL,
)
SAFE_LETTERS = "AbBdDsSwWafnrtvxuU"
SETS = ("&&", "--", "~~")


def translate(pattern: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern written for ripgrep. Raises `InvalidRegex` with the reason."""
    out: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(pattern):
        if in_class:
            in_class = _in_class(token, out)
        elif token["other"] == "[":
            in_class = True
            out.append("[")
        else:
            out.append(_outside(token, pattern))
    try:
        return re.compile("".join(out), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidRegex(str(error)) from None


def _outside(token: re.Match[str], pattern: str) -> str:
    if token["escape"] or token["hex"]:
        return _escape(token)
    if (group := token["group"]) is not None:
        return _group(group, token.start() == 0)
    if (count := token["count"]) and not re.fullmatch(r"\{\d+(,\d*)?\}", count):
        raise InvalidRegex("repetition quantifier is not valid or not closed")
    if token["other"] == "+" and pattern[: token.start()].endswith(("*", "+", "?", "}")):
        raise InvalidRegex("a repetition of a repetition is not supported without ripgrep")
    return token[0] if token["posix"] is None else re.escape(token[0])


def _in_class(token: re.Match[str], out: list[str]) -> bool:
    """Append one member of a class; False after its end."""
    if token["posix"]:
        if token["posix"] not in POSIX or token["not"]:
            raise InvalidRegex(f"unrecognized class {token[0]}")
        out.append(POSIX[token["posix"]])
    elif token["escape"] or token["hex"]:
        out.append(_escape(token))
    elif token["other"] == "]" and out[-1] not in ("[", "^"):
        out.append("]")
        return False
    elif token["other"] == "[":
        raise InvalidRegex("a class within a class is not supported without ripgrep")
    else:
        operator = (out[-1] + token[0])[-2:] in SETS
        out.append(f"\\{token[0]}" if operator else token[0])
    return True


def _escape(token: re.Match[str]) -> str:
    if token["hex"]:
        return re.escape(chr(min(int(token["hex"], 16), 0x10FFFF)))
    letter = token["escape"]
    if letter == "z":
        return r"\Z"
    if letter.isalnum() and letter.isascii() and letter not in SAFE_LETTERS:
        kind = "backreferences are" if letter.isdigit() else f"the escape \\{letter} is"
        raise InvalidRegex(f"{kind} not supported")
    return token[0]


def _group(group: str, first: bool) -> str:
    if group in ("?=", "?!", "?<=", "?<!", "?>", "?(", "?P="):
        raise InvalidRegex("look-around, backreferences and conditions are not supported")
    if group.endswith(")") and not first:
        raise InvalidRegex("flags are supported only at the start without ripgrep")
    return "(" + re.sub(r"^\?<", "?P<", group)
