"""Covers what looks like a secret: by its form, or by the name before it."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from fsagent_tools.errors import InvalidArguments

_COVER = "•••"
_LOOKED_AT = 131_072  # characters of one text: four times as many as a page can show
_CUT = "\n… more was left out before this page was made …\n"
_NAME = (
    r"(?:passw(?:or)?d|passphrase|passcode|(?:(?<![a-z])|(?<=db)|(?<=user))pass(?![a-z])|_pwd\b"
    r"|secret|token|credential|(?:api|access|private|secret|auth|signing|encryption|account)[_-]?key"
    r"|authorization|x-amz-signature)(?!s\b|iz)"
)
_CODE = (
    r"(?i:none|true|false|null|str|int|bool|bytes|string|number|any|self|bearer|basic|\d+"
    r"|await|new|token|password|passwd|secret|api_?key)(?![\w-]|[!@#$]\w)"
)
# Of a match its last group is covered, or all of it where it has none. Repeats that may begin at
# many places are bounded, so that the time grows with the text and not with its square.
_PRIVATE_KEY = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END [A-Z ]*PRIVATE KEY|\Z)"
)
_URL_PASSWORD = r"://[^\s/:@'\"]{0,200}:([^\s/@'\"]+)@"
_AUTHORIZATION = (  # a value without a digit or a sign of base64 is prose about headers
    r"authorization[\"']?\s{0,20}[:=]\s{0,20}[\"']?[\w-]{1,30}\s{1,20}(?=[^\n']*[\d=_])"
)
_HEADER = (
    rf"\b(?i:{_AUTHORIZATION}|(?:set-)?cookie:\s*)([^\n']+)"
    r"|\b(?i:bearer|basic)\s+([\w.~+/=-]{8,})"
)
_PREFIXES = (
    r"gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|gsk_|hvs\.|dop_v1_|shpat_|sk-|whsec_"
    r"|[sr]k_(?:live|test)_|xox[abeoprs]-|ya29\.|SG\.|AGE-SECRET-KEY-"
)
_VENDOR_KEY = (  # a JSON web token, keys of Amazon and Google, then those with a prefix of words
    r"\b(?:eyJ[\w-]{8,999}\.[\w-]{8,}(?:\.[\w-]*)?|A(?:KI|SI)A[0-9A-Z]{16}\b|AIza[\w-]{30,}"
    rf"|(?:{_PREFIXES})(?=[\w-]{{0,60}}[\dA-Z])[\w.-]{{12,}})"
)
_OPTION = (  # but for a count
    rf"--(?!no-)[\w-]{{0,60}}?(?i:{_NAME})[\w-]{{0,60}}\s{{1,20}}"
    r"(?!\d{1,5}(?!\S))([^\s\"'-][^\s\"']*)"
)
_ASSIGNS = (  # in code, in a URL, by a blank before a quote, or as an element of XML
    r"(?:\s{0,20}(?::=|=>|[:=]|%3[aAdD])\s{0,20}|\s(?=[\"'])|>(?=[^<>\n]{4,200}</))"
)
_QUOTED = (  # within a text of JSON, or in a quote of a program
    r"\\\"([^\"\\\n]{4,})\\\"|[bfr]?\"((?:\\.|[^\"\\\n]){4,})\"|[bfr]?'((?:\\.|[^'\\\n]){4,})'"
)
_BARE = rf"(?!{_CODE})([^\s\"',;&|()<>\[\]{{}}]{{4,}}+)(?![(\[])"  # nor is a call a value
_NAMED = rf"(?i:{_NAME}[\w.-]{{0,60}})(?:\\?[\"'])?{_ASSIGNS}(?:{_QUOTED}|{_BARE})"
_FORMS = tuple(
    re.compile(form, re.DOTALL)
    for form in (_PRIVATE_KEY, _URL_PASSWORD, _HEADER, _VENDOR_KEY, f"{_OPTION}|{_NAMED}")
)
_SECRET_NAME = re.compile(rf"(?i:{_NAME}|cookie)")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def covering(patterns: Sequence[str] = ()) -> Callable[[Any], Any]:
    """A function that gives a JSON value back with `•••` in place of what looks like a secret.

    That is a guess: not all have a form. patterns: regular expressions of what is covered besides.
    Control characters are spelled out, also those that would show a text in another order.
    """
    own = [_compiled(pattern) for pattern in patterns]
    shown = cache(partial(_shown, own=own))  # much is told twice

    def covered(value: Any, name: str = "") -> Any:
        """A text whose key names a secret is covered whole."""
        if isinstance(value, str):
            return _COVER if value and _SECRET_NAME.search(name) else shown(value)
        if isinstance(value, list | tuple):
            return [covered(part, name) for part in value]
        if isinstance(value, Mapping):
            return {shown(str(key)): covered(part, str(key)) for key, part in value.items()}
        return value

    return covered


def _shown(text: str, own: Sequence[re.Pattern[str]]) -> str:
    if len(text) > _LOOKED_AT:  # cut here, not later: half a secret has no form
        text = text[: _LOOKED_AT // 2] + _CUT + text[-_LOOKED_AT // 2 :]
    for form in _FORMS:
        text = form.sub(_covered, text)
    for form in own:
        text = form.sub(_COVER, text)
    return _UNSEEN.sub(lambda found: repr(found[0])[1:-1], text)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidArguments(f"`cover`: {pattern!r} is no regular expression: {error}.") from None


def _covered(found: re.Match[str]) -> str:
    group = found.lastindex or 0
    start, end = (at - found.start() for at in found.span(group))
    return found[0][:start] + _COVER + found[0][end:]
