"""Path rules that can match no path: mistakes of the host, told with the spelling that does."""

import re

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.globs import readings, split_list, with_slashes

_AROUND = re.compile(r"\A\s+|(?<!\\)\s+\Z")
_QUOTED = re.compile(r"""(["'`])(.+)\1""", re.DOTALL)
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)[/\\]")
_NEEDLESS = re.compile(r"(?<=/)(?:\.?/)+|(?<=[{,])\./|(?:/\.)+\Z")  # of `a/./b`, `a//b`, `a/.`


def check_rule(name: str, pattern: str) -> None:
    """Raise `ConfigInvalid` unless the rule can match some path.

    name: of the list that it is in. What else it may be, such as a path that does not exist yet,
    is the host's to know. Raises `InvalidGlob` for what is no pattern.
    """
    if pattern != (bare := _AROUND.sub("", pattern)):
        raise _mistake(name, pattern, "begins or ends with a blank", bare)
    if quoted := _QUOTED.fullmatch(pattern):
        raise _mistake(name, pattern, "has quotes around it", quoted[2])
    if pattern[0] == "!":
        raise _mistake(name, pattern, "begins with '!', but rules have no exceptions", pattern[1:])
    if home := _HOME.match(pattern):
        spelled = "{{home}}/" + pattern[home.end() :]
        raise _mistake(name, pattern, "does not name the home directory", spelled)
    if (slashed := with_slashes(pattern)) != pattern:
        raise _mistake(name, pattern, "has backslashes, which separate nothing", slashed)
    if (several := split_list(pattern)) != [pattern]:
        fault = f"{name}: {pattern!r} is a list in one text, so it matches nothing."
        raise ConfigInvalid(fault, hint=f"Write {several!r}. A comma of a name is '\\,'.")
    if any(map(_has_needless_part, readings(pattern))):
        spelled = _NEEDLESS.sub("", pattern)
        raise _mistake(name, pattern, "has a part that no path has", spelled)


def _mistake(name: str, pattern: str, fault: str, spelled: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"{name}: {pattern!r} {fault}, so it matches nothing.",
        hint=f"Write {spelled!r}." if spelled else "Leave it out.",
    )


def _has_needless_part(text: str) -> bool:
    parts = text.removeprefix("./").rstrip("/").split("/")[text[0] == "/" :]
    return text.strip("/") not in ("", ".") and bool({"", "."} & {*parts})
