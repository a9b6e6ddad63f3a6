"""TypeScript's own parser, where it is installed: grammars lag behind the language."""

import json
from pathlib import Path

from fsagent_tools.lint.guarded import run_check
from fsagent_tools.lint.places import Source, Undecided, found
from fsagent_tools.problems import Problem
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.reader import confines

_SETTINGS = "/etc/ssl/openssl.cnf"  # without which node does not start
_LIBRARY = "lib/typescript.js"
_PARSE = """
const ts = require(process.argv[1]), text = require("fs").readFileSync(0, "utf8");
const parsed = ts.createSourceFile(process.argv[2], text, ts.ScriptTarget.Latest, false);
console.log(JSON.stringify(parsed.parseDiagnostics.map(each => [
  [...text.slice(0, each.start)].length, [...text.slice(0, each.start + each.length)].length,
  ts.flattenDiagnosticMessageText(each.messageText, " ")])));
"""


def typescript_of(file: Path, root: Path, programs: Programs) -> str:
    """The library of the project's TypeScript, where what runs it can be confined, else of that on
    the path; "" for none.
    """
    above = [folder for folder in file.parents if folder.is_relative_to(root)] if confines() else []
    places = [folder / "node_modules/typescript" for folder in above]
    commands = filter(None, map(programs.find, ("tsc", "tsserver")))
    places += [Path(command).resolve().parents[1] for command in commands]
    libraries = (place / _LIBRARY for place in places)
    return next((str(library.resolve()) for library in libraries if library.is_file()), "")


def typescript_problems(source: Source) -> list[Problem] | None:
    """Its syntax errors; None where it, or node, is not installed. Raises `Undecided`."""
    library = source.means.typescript()
    node = library and source.means.programs.find("node")
    if not node:
        return None
    command = [node, "-e", _PARSE, library, source.name]
    try:
        told = json.loads(run_check(command, source, library, _SETTINGS)[0])
        return [found(source.text, (a, b), str(said), "typescript") for a, b, said in told]
    except (ValueError, TypeError):
        raise Undecided("TypeScript's parser failed") from None
