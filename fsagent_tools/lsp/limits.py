"""What servers do not check of some files, and do not say themselves."""

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path

from fsagent_tools.lsp.settings import first_text, folders_above


@dataclass(frozen=True)
class Limit:
    """What a server `leaves` of some files: those with one of `suffixes`, in a directory whose name
    matches one of `folders`, or without any of the files `lacking` in a directory above; of all
    when nothing is given. project: what a directory has whose own name, and those above it, do
    not count for `folders`. whole: it then checks nothing, at most the syntax.
    """

    leaves: str
    suffixes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    whole: bool = False

    def holds(self, file: Path, root: Path) -> bool:
        """For `file` in the workspace `root`."""
        above = folders_above(file, root)
        inner = takewhile(lambda folder: not _has(folder, self.project), above)
        names = [folder.name for folder in inner if folder != root]
        return (
            (not self.suffixes or file.suffix.lower() in self.suffixes)
            and (not self.folders or any(fnmatch(n, p) for n in names for p in self.folders))
            and not any(_has(folder, self.lacking) for folder in above)
        )


def newer_go(file: Path, root: Path, program: str) -> str:
    """What the module or the workspace of `file` wants, where the Go of `program` is older."""
    above = folders_above(file, root)
    near = [settings for folder in above if (settings := folder / "go.mod").exists()][:1]
    there = first_text(Path(program).resolve().parents[1] / "VERSION")
    has = _numbers(re.match(r"go([\d.]+)", there))
    for settings in (*(folder / "go.work" for folder in above), *near):
        wanted = re.search(r"(?m)^go[ \t]+([\d.]+)", first_text(settings))
        if wanted and has and _numbers(wanted) > has[: len(_numbers(wanted))]:
            told, installed = wanted[1], ".".join(map(str, has))
            name = settings.relative_to(root)
            return f"{name} wants Go {told}, and {installed} is installed: install Go {told}"
    return ""


def _numbers(version: re.Match[str] | None) -> tuple[int, ...]:
    return tuple(map(int, filter(None, version[1].split(".")))) if version else ()


def _has(folder: Path, names: tuple[str, ...]) -> bool:
    return any((folder / name).exists() for name in names)


JAVASCRIPT = (
    Limit(
        "checks the types of JavaScript only where checkJs or // @ts-check says so",
        (".js", ".mjs", ".cjs", ".jsx"),
    ),
)
GO = (
    Limit(
        "it checks nothing in testdata, vendor, and directories that begin with a dot or _",
        folders=("testdata", "vendor", "[_.]*"),
        project=("go.mod",),
        whole=True,
    ),
    Limit(
        "the file is in no module (go.mod), so that it may miss the other files of its package",
        lacking=("go.mod", "go.work"),
        whole=True,
    ),
)
ZSH = (Limit("shellcheck knows no zsh", (".zsh",), whole=True),)
FLAGS = (*("compile_commands.json", "build/compile_commands.json", "compile_flags.txt", ".clangd"),)
C = (
    Limit(
        "guesses include paths and macros: nothing says how the file is built "
        "(compile_commands.json, of `bear -- make` or cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)",
        lacking=FLAGS,
    ),
)
