"""Git's configuration as git reads it, and what of a changed one runs nothing."""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

_NAME, _BLANK = re.compile(r"[A-Za-z][A-Za-z0-9-]*"), " \t\r\n"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_PIECE = re.compile(r"\\\r\n|\\.|\\|.|\n", re.DOTALL)
_JOINED = ("\\\n", "\\\r\n")  # two lines
_WORD = re.compile(r"[\w.,:+-]*")
# A transport of its own, or what a program would take for an option.
_RUNS = re.compile(r"-|[A-Za-z0-9+.-]*::|[a-z+]+://-")
_TREE = "core.worktree"
# Keys that are a choice, and so one word: in the first sections all but what names a program, a
# file or an address.
_CHOICE = re.compile(
    r"(?!.*(?:cmd|command|dir|directory|driver|editor|external|file|filter|helper|hook|octopus"
    r"|option|pager|path|program|protocols|proxy|template|tool|twohead|uri|url)$)"
    "(?:advice|am|apply|blame|branch|checkout|color|column|commit|diff|feature"
    "|fetch|format|gc|gpg|index|init|log|maintenance|merge|notes|pack|pull|push|rebase|receive"
    r"|rerere|stash|status|submodule|tag|user|versionsort|worktree)\.[a-z0-9-]+"
    r"|core\.(?:abbrev|autocrlf|bare|checkstat|compression|eol|filemode|ignorecase"
    "|logallrefupdates|longpaths|precomposeunicode|preloadindex|quotepath|repositoryformatversion"
    "|safecrlf|sparsecheckout|sparsecheckoutcone|symlinks|trustctime|untrackedcache|whitespace)"
    r"|extensions\.(?:noop|objectformat|preciousobjects|refstorage|relativeworktrees|worktreeconfig)"
    r"|branch\.\*\.rebase|remote\.\*\.(?:mirror|promisor|prune|prunetags|tagopt)"
    r"|submodule\.\*\.(?:active|fetchrecursesubmodules|ignore|update)"
)
_TEXT = {"user.name", "user.email", "branch.*.description", "remote.*.partialclonefilter"}
_ADDRESSES = {
    *("remote.*.url", "remote.*.pushurl", "remote.*.fetch", "submodule.*.url"),
    *("branch.*.merge", "submodule.*.branch", "submodule.active", "user.signingkey"),
}
_REMOTES = {
    *("branch.*.remote", "branch.*.pushremote", "remote.pushdefault", "extensions.partialclone"),
}
_PLACES = {"remote.*.url", "remote.*.pushurl", "submodule.*.url"}


class Setting(NamedTuple):
    """key: `section.subsection.name` with the letters of git; value: None without `=`."""

    key: str
    value: str | None
    start: int
    end: int


class Unreadable(ValueError):
    """Git would refuse it, too."""


def settings_of(text: str) -> list[Setting]:
    """All that is set, in order, and where. Raises `Unreadable`."""
    items, section, at = list[Setting](), "", 0
    if "\0" in text:  # git takes a name to end there
        raise Unreadable
    while at < len(text):
        letter = text[at]
        if letter in _BLANK:
            at += 1
        elif letter in "#;":
            at = _line_end(text, at)
        elif letter == "[":
            section, at = _section(text, at + 1)
        else:
            item = _item(text, at, section)
            items.append(item)
            at = item.end
    return items


def taken_over(
    before: str,
    after: str,
    is_tree: Callable[[str], bool] | None = None,
    is_built: Callable[[str], bool] = lambda _: False,
) -> tuple[str, list[str]]:
    """`after` with what may run something as `before` has it, and the names of what went back.

    is_tree: for the repository of a submodule, whether a path from it is its work tree. is_built:
    whether an address leads to where no repository is judged. Raises `Unreadable` where `after` is
    no configuration.
    """
    try:
        old = settings_of(before)
    except Unreadable:
        old = []
    new = settings_of(after)
    remotes = {_middle(item.key) for item in new if _form(item.key) == "remote.*.url"}
    had = Counter((item.key, item.value) for item in old)
    text, names = after, list[str]()
    for item in reversed(new):
        if had[item.key, item.value]:
            had[item.key, item.value] -= 1
        elif is_tree and item.key == _TREE and is_tree(item.value or ""):
            continue
        elif not _runs_nothing(item, remotes, is_built):
            text = _without(text, item)
            names.append(item.key)
    tree_may_go = is_tree is not None and _TREE not in names
    for item in old:
        may_go = tree_may_go if item.key == _TREE else _may_go(item)
        if had[item.key, item.value] and not may_go:
            had[item.key, item.value] -= 1
            text += f"\n{_header(item.key)}\n\t{before[item.start : item.end].strip()}\n"
            names.append(item.key)
    return text, list(dict.fromkeys(names))


def _without(text: str, item: Setting) -> str:
    start = item.start
    while text[:start].endswith((" ", "\t")):
        start -= 1
    alone = not start or text[start - 1] == "\n"
    return text[:start] + text[item.end + alone :]


def _may_go(item: Setting) -> bool:
    form = _form(item.key)
    return form in _TEXT | _ADDRESSES | _REMOTES or _CHOICE.fullmatch(form) is not None


def _runs_nothing(item: Setting, remotes: set[str], is_built: Callable[[str], bool]) -> bool:
    form, value = _form(item.key), item.value or ""
    if any(ord(letter) < 32 for letter in value):
        return False
    if form in _REMOTES:
        return value == "." or value in remotes
    if form in _ADDRESSES:
        return not (_RUNS.match(value) or (form in _PLACES and is_built(value)))
    return form in _TEXT or bool(_CHOICE.fullmatch(form) and _WORD.fullmatch(value))


def _form(key: str) -> str:
    """`branch.*.merge` for `branch.main.merge`."""
    section, _, rest = key.partition(".")
    middle, dot, name = rest.rpartition(".")
    return f"{section}.*.{name}" if dot and middle else key


def _middle(key: str) -> str:
    return key.partition(".")[2].rpartition(".")[0]


def _header(key: str) -> str:
    quoted = _middle(key).replace("\\", "\\\\").replace('"', '\\"')
    section = key.partition(".")[0]
    return f'[{section} "{quoted}"]' if quoted else f"[{section}]"


def _section(text: str, at: int) -> tuple[str, int]:
    """The section that begins after `[`, as the beginning of its keys, and where it ends."""
    match = re.compile(r"([A-Za-z0-9.-]+)(?:[ \t]+\"((?:[^\"\\\n]|\\[^\n])*)\")?\]").match(text, at)
    if not match:
        raise Unreadable
    name, inner = match[1].lower(), match[2]
    inner = "" if inner is None else re.sub(r"\\(.)", r"\1", inner) + "."
    return f"{name}.{inner}", match.end()


def _item(text: str, start: int, section: str) -> Setting:
    name = _NAME.match(text, start)
    if not name or not section:
        raise Unreadable
    key, at = section + name[0].lower(), name.end()
    while at < len(text) and text[at] in " \t":
        at += 1
    if at == len(text) or text[at] == "\n" or text.startswith("\r\n", at):
        return Setting(key, None, start, at)
    if text[at] != "=":
        raise Unreadable
    value, at = _value(text, at + 1)
    return Setting(key, value, start, at)


def _value(text: str, at: int) -> tuple[str, int]:
    """What stands after `=`, and where its line ends."""
    value, trailing, quoted = "", "", False
    for match in _PIECE.finditer(text, at):
        piece, at = match[0], match.end()
        if piece == "\n" or (piece in "#;" and not quoted):
            at = match.start() if piece == "\n" else _line_end(text, at)
            break
        if piece in _BLANK and not quoted:
            trailing += piece if value else ""
        elif piece == '"':
            quoted = not quoted
        elif piece not in _JOINED:
            value, trailing = value + trailing + _letter(piece), ""
    if quoted:
        raise Unreadable
    return value, at


def _letter(piece: str) -> str:
    if piece[0] != "\\":
        return piece
    if piece[1:] not in _ESCAPES:
        raise Unreadable
    return _ESCAPES[piece[1:]]


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
