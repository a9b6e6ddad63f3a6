"""Covers what looks like a secret: by its form, or by the name before it."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

_COVER = "•••"
_NAME = (
    r"(?:passw(?:or)?d|passphrase|passcode|(?:(?<![a-z])|(?<=db)|(?<=user))pass(?![a-z])|secret|token|credential"
    r"|_pwd\b|(?<=[\"';])pwd(?=[\"'=])(?![\"']?\s?[:=]\s?[\"']?/)"
    r"|(?:api|access|private|secret|auth|signing|encryption|account)[_-]?key|connection[_-]?string"
    r"|authorization)(?!s\b|iz)"
)
_CODE = (
    r"(?i:none|true|false|null|str|int|bool|bytes|string|number|any|self|bearer|basic|\d+"
    r"|await|new|token|password|passwd|secret|api_?key)(?![\w-]|[!@#$]\w)"
)
_RANDOM = r"(?=[\w-]{0,60}[\dA-Z])"  # what follows is no word of a name
# How a match begins, in lower case; what is covered: all, or a group. Repeats that may begin at
# many places are bounded, so that the time grows with the text and not with its square.
_FORMS = (
    (
        ("-----begin",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>.*?)(?:-----END [A-Z ]*PRIVATE KEY|\Z)",
    ),
    (("://",), r"://[^\s/:@'\"]{0,200}:(?P<secret>[^\s/@'\"]+)@"),
    (("bearer", "basic"), r"\b(?i:bearer|basic)\s+(?P<secret>[\w.~+/=-]{8,})"),
    (
        ("authorization",),
        r"\b(?i:authorization)[\"']?\s{0,20}[:=]\s{0,20}[\"']?"
        r"(?P<secret>(?i:digest|aws4-hmac-sha256)\s[^\n']+|(?i:token|apikey)\s{1,20}[^\s\"',;]{8,}"
        r"|[\w-]{1,30}\s{1,20}(?=[^\s\"',;]*[\d=_])[^\s\"',;]{8,})",
    ),
    (("cookie:",), r"\b(?i:(?:set-)?cookie):\s*(?P<secret>[^\n'\"]+)"),
    (("eyj",), r"\beyJ[\w-]{8,999}\.[\w-]{8,}(?:\.[\w-]*)?"),
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (("aiza",), r"\bAIza[\w-]{30,}"),
    (("ya29.",), r"\bya29\.[\w.-]{8,}"),
    (
        (
            *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "npm_"),
            *("pypi-", "gsk_", "hvs.", "dop_v1_", "shpat_"),
        ),
        r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-|gsk_|hvs\.|dop_v1_|shpat_)"
        rf"{_RANDOM}[\w-]{{16,}}",
    ),
    (
        ("sk-", "sk_", "rk_", "whsec_"),
        rf"\b(?:sk-|[sr]k_(?:live|test)_|whsec_){_RANDOM}[\w-]{{12,}}",
    ),
    (("sg.",), r"\bSG\.[\w-]{16,64}\.[\w-]{16,}"),
    (("age-secret-key-",), r"\bAGE-SECRET-KEY-\w{8,}"),
    (("sig=",), r"(?<=[?&])(?i:sig)=(?P<secret>[^&\s\"']+)"),
    (("x-amz-signature=",), r"(?i:x-amz-signature)=(?P<secret>\w+)"),
    (
        ("machine",),
        r"\bmachine\s{1,20}\S{1,200}\s{1,20}login\s{1,20}\S{1,200}\s{1,20}password\s{1,20}"
        r"(?P<secret>\S+)",
    ),
    (("xox",), r"\bxox[abeoprs]-[\w-]{10,}"),
    (("hooks.slack.com",), r"hooks\.slack\.com/services/(?P<secret>[\w/-]+)"),
    (
        (
            *("pass", "_pwd", "pwd", "secret", "token", "credential", "api", "access", "private"),
            *("auth", "signing", "encryption", "account", "connection"),
        ),
        rf"(?i:{_NAME}[\w.-]{{0,60}})(?:\\?[\"'])?"
        rf"(?:\s{{0,20}}(?::=|=>|[:=]|%3[aAdD])\s{{0,20}}|\s(?=[\"'])|>(?=[^<>\n]{{4,200}}</))"
        rf"(?:\\\"(?P<escaped>[^\"\\\n]{{4,}})\\\"|[bfr]?\"(?P<double>(?:\\.|[^\"\\\n]){{4,}})\""
        rf"|[bfr]?'(?P<single>(?:\\.|[^'\\\n]){{4,}})'"
        rf"|(?!{_CODE})(?P<secret>[^\s\"',;&|()<>\[\]{{}}]{{4,}}+)(?![(\[]))",
    ),
    (
        ("--",),
        r"--(?!no-)(?P<name>[\w-]{1,99}+)\s{1,20}(?!\d{1,5}(?!\S))(?P<secret>[^\s\"'-][^\s\"']*)",
    ),
    (
        ("-u", "--user"),
        r"(?<=\s)(?:-u\s{1,20}|--user[\s=]{1,20})[\"']?(?!\d+:\d+(?![^\s\"']))"
        r"[^\s:\"']{1,100}:(?P<secret>[^\s\"']+)",
    ),
    (
        (
            *("mysql", "mariadb", "sshpass", "docker", "podman", "buildah", "nerdctl", "skopeo"),
            *("oras", "helm", "az login"),
        ),
        r"\b(?:(?:mysql|mariadb)[^\n;|&]{0,200}?\s-p"
        r"|(?:sshpass|(?:docker|podman|buildah|nerdctl|skopeo|oras|az|helm\s{1,20}registry)"
        r"\s{1,20}login)\b[^\n;|&]{0,200}?\s-p\s{0,20})"
        r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'"
        r"|[\"']?(?P<secret>[^\s\"'-][^\s\"']*))",
    ),
)
_SECRET_NAME = re.compile(rf"(?i:{_NAME}|cookie)")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_MARGIN = 4096  # characters beside a cut, in which half a secret might be
_KEY = "-----BEGIN "


@lru_cache
def _forms() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    return tuple((words, re.compile(form, re.DOTALL)) for words, form in _FORMS)


@lru_cache
def _hints() -> re.Pattern[str]:
    return _starts([word for words, _ in _FORMS for word in words])


def _starts(words: Sequence[str]) -> re.Pattern[str]:
    """Finds where any of them begins, also within another: a character, and what follows it."""
    firsts = sorted({word[0] for word in words})
    rests = ("|".join(re.escape(w[1:]) for w in words if w[0] == first) for first in firsts)
    pairs = zip(firsts, rests, strict=True)
    return re.compile("|".join(f"{re.escape(first)}(?={rest})" for first, rest in pairs))


def without_controls(text: str) -> str:
    """Control characters spelled out, also those that would show a text in another order."""
    return _UNSEEN.sub(lambda found: repr(found[0])[1:-1], text)


def beginning(text: str, longest: int) -> str:
    """The first `longest` characters of the redacted text, or more of it."""
    some = longest + 2 * _MARGIN
    return redacted(text) if len(text) <= some else redacted(text[:some])[:-_MARGIN]


def ending(text: str, longest: int) -> str:
    """The last `longest` characters of the redacted text, or more of it."""
    start = len(text) - longest - 2 * _MARGIN
    if start <= 0:
        return redacted(text)
    key = text.rfind(_KEY, 0, start)
    if key >= 0 and "PRIVATE KEY" in text[key : key + 50] and text.find("-----END", key, start) < 0:
        return redacted(f"{text[key : key + 50]}{text[start:]}")
    return redacted(text[start:])[_MARGIN:]


def redacted(text: str) -> str:
    """`text` with `•••` in place of what looks like a secret. A guess: not all have a form."""
    known, hints = _lowered(text), _hints().finditer
    places = [hint.start() for hint in hints(known)]
    if not places:
        return text
    for words, form in _forms():
        if len(known) == len(text):
            starts = [place for place in places if known.startswith(words, place)]
            covered = _covered_at(starts, form, text) if starts else text
        else:
            covered = form.sub(_covered, text)  # a letter is two in lower case
        if covered != text:
            text, known = covered, _lowered(covered)
            places = [hint.start() for hint in hints(known)]
    return text


def _lowered(text: str) -> str:
    """As patterns that are blind to letter case read it."""
    return text.lower().replace("\u017f", "s").replace("\u0131", "i")


def _covered_at(starts: Sequence[int], form: re.Pattern[str], text: str) -> str:
    """`form.sub`, which is asked only at `starts`, where it may begin."""
    parts, end = list[str](), 0
    for start in starts:
        if start >= end and (found := form.match(text, start)):
            parts += text[end : found.start()], _covered(found)
            end = found.end()
    return "".join((*parts, text[end:])) if parts else text


def redacted_all(value: Any, cover: Callable[[str], str], name: str = "") -> Any:
    """The same of a JSON value; a text whose key names a secret is covered whole."""
    if isinstance(value, str):
        return _COVER if name and _names_secret(name) and value else cover(value)
    if isinstance(value, list | tuple):
        return [redacted_all(part, cover, name) for part in value]
    if isinstance(value, Mapping):
        return {cover(str(key)): redacted_all(part, cover, str(key)) for key, part in value.items()}
    return value


@lru_cache(256)
def _names_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name))


def _covered(found: re.Match[str]) -> str:
    parts = found.groupdict()
    if (name := parts.pop("name", None)) and not _names_secret(name):
        return found[0]
    groups = [group for group, part in parts.items() if part]
    if not groups:
        return _COVER
    start, end = (at - found.start() for at in found.span(groups[0]))
    return found[0][:start] + _COVER + found[0][end:]
