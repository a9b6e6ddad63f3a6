"""Commands that check a file where its language server could not: run as `bash` would be, in a
sandbox that lets them write nowhere but in the temporary directory.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fsagent_tools.lsp.checked import Told
from fsagent_tools.lsp.environment import folders_above
from fsagent_tools.lsp.positions import Positions
from fsagent_tools.problems import Problem, by_importance

_SAID = re.compile(  # file:line:column: or file(line,column):, then error[code]: or error code:
    r"(?m)^(?:vet: )?(?:\./)?([^\s:(][^:(\n]*)[:(](\d+)[:,](\d+)\)?: "
    r"(?:(error|warning|note)(?:\[(\w+)\]| (\w+))?: )?(.+)$"
)
Heard = tuple[str, int | None, str]  # the file as it was named, exit code, output
NOT_ITS_FILE = 77  # exit code of a script: the program is absent, or checks other files only


@dataclass(frozen=True)
class Checker:
    """command: as a person would type it. script: of bash, "" where the built-in check is that
    command; $FILE is the file, from the directory where it runs: that of the file where `beside`
    is ".", else the nearest one above it that has the file `beside`, else the project's. It ends
    with 0 where the file has no error, and with `NOT_ITS_FILE`. encoding: what its columns count.
    leaves: what in a text it leaves out, and how that is told.
    """

    command: str
    script: str = ""
    beside: str = ""
    encoding: str = "utf-16"
    leaves: tuple[re.Pattern[str], str] | None = None

    def directory(self, file: Path, project: Path, root: Path) -> Path:
        """Where it runs."""
        above = folders_above(file, root) if self.beside else []
        return next((folder for folder in above if (folder / self.beside).exists()), project)

    def told(self, ran: Heard | None, text: str) -> Told | None:
        """What it says of the file, which holds `text`; None where it may not be run, or says
        nothing: an error that stops it elsewhere, or another file.
        """
        if ran is None or (found := self._problems(ran, text)) is None:
            return None
        left = (self.leaves[1],) if self.leaves and self.leaves[0].search(text) else ()
        return Told(self.command, found, left=left)

    def way(self, ran: Heard | None) -> str:
        """What to tell of it where it said nothing."""
        return "" if ran and ran[1] == NOT_ITS_FILE else f"; run `{self.command}`"

    def _problems(self, ran: Heard, text: str) -> list[Problem] | None:
        file, exit_code, output = ran
        places, found = Positions(text, self.encoding), list[Problem]()
        for told, line, column, severity, code, number, message in _SAID.findall(output):
            if told == file:
                at = places.at({"line": int(line) - 1, "character": int(column) - 1})
                kind = "information" if severity == "note" else severity or "error"
                said = message.partition(": help: ")[0]
                found.append(Problem(*at, kind, said, self.command, code or number))
        return by_importance(found) if found or exit_code == 0 else None


_GO = f"""\
command -v go >/dev/null || exit {NOT_ITS_FILE}
export GOCACHE="$TMPDIR/go-build" GOTOOLCHAIN=local GOPROXY=off
kinds='.GoFiles .CgoFiles .TestGoFiles .XTestGoFiles'
go vet . || exit
for kind in $kinds; do go list -e -f "{{{{range $kind}}}}{{{{println .}}}}{{{{end}}}}" . ; done |
  grep -qxF "$FILE" || exit {NOT_ITS_FILE}"""
# Where cargo would write the lock, the crate is a directory of links. What it has read stands in
# the files `.d` beside what it made, or made before and names again.
_RUST = f"""\
command -v cargo >/dev/null || exit {NOT_ITS_FILE}
name="$(printf %s "$PWD" | cksum | tr ' ' -)"
export CARGO_TARGET_DIR="$TMPDIR/cargo-target-$name" CARGO_TERM_COLOR=never
if ! cargo metadata --locked --offline --format-version 1 >/dev/null 2>&1; then
  crate="$TMPDIR/crate-$name"
  rm -rf "$crate" && mkdir "$crate" || exit {NOT_ITS_FILE}
  find "$PWD" -mindepth 1 -maxdepth 1 ! -name target ! -name Cargo.lock \
    -exec ln -s {{}} "$crate" \\;
  [ ! -e Cargo.lock ] || cp Cargo.lock "$crate"
  cd "$crate" || exit {NOT_ITS_FILE}
fi
set -- --offline --workspace --all-targets --quiet
cargo check "$@" --message-format=short 2>&1 || exit
cargo check "$@" --message-format=json 2>/dev/null | grep -o '[^"/]*\\.rmeta"' |
  sed 's/^lib//; s/\\.rmeta"$/.d/' |
  while read -r made; do cat "$CARGO_TARGET_DIR/debug/deps/$made"; done 2>/dev/null |
  grep -qxF "$FILE:" || exit {NOT_ITS_FILE}"""
_SWITCHED = re.compile(r"\bcfg(?:_attr|!)?\((?!test\))")
# TS5033: it may not write what it knows for the next time.
_TYPESCRIPT = f"""\
PATH="$PWD/node_modules/.bin:$PATH"
command -v tsc >/dev/null || exit {NOT_ITS_FILE}
set -- --target esnext --module esnext --moduleResolution bundler --jsx preserve "$FILE"
[ ! -e tsconfig.json ] || set -- -p .
said=$(tsc --noEmit --pretty false --listFiles "$@")
printf '%s\\n' "$said" | grep -qxF -e "$FILE" -e "$PWD/$FILE" || exit {NOT_ITS_FILE}
! printf '%s\\n' "$said" | grep 'error TS' | grep -v TS5033"""
Runner = Callable[[Checker, Path, Path], Heard | None]  # in a directory, for a file
CHECKERS: Mapping[str, Checker] = {
    checker.command: checker
    for checker in (
        Checker("bash -n"),
        Checker("go vet", _GO, ".", "utf-8"),
        Checker("cargo check", _RUST, leaves=(_SWITCHED, "checks nothing that cfg switches off")),
        Checker("tsc --noEmit", _TYPESCRIPT, "tsconfig.json"),
    )
}
