"""What servers do not check of some files, and do not say themselves."""

from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path


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
        above = [folder for folder in file.parents if folder.is_relative_to(root)]
        inner = takewhile(lambda folder: not _has(folder, self.project), above)
        names = [folder.name for folder in inner if folder != root]
        return (
            (not self.suffixes or file.suffix.lower() in self.suffixes)
            and (not self.folders or any(fnmatch(n, p) for n in names for p in self.folders))
            and not any(_has(folder, self.lacking) for folder in above)
        )


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
HTML = (Limit("it knows the scripts and styles in a page, not its elements", whole=True),)
ZSH = (Limit("shellcheck knows no zsh", (".zsh",), whole=True),)
FLAGS = (*("compile_commands.json", "build/compile_commands.json", "compile_flags.txt", ".clangd"),)
C = (
    Limit(
        "guesses include paths and macros: nothing says how the file is built "
        "(compile_commands.json)",
        lacking=FLAGS,
    ),
)
