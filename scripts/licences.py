"""The licences of everything that an installation can bring, as docs/licences.md; --check judges.

Read from the metadata of what is installed here, with all extras.
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "licences.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAD = """# Licences of the dependencies

All that `pip install "fsagent-tools[all]"` brings on Linux, direct and indirect, from each
package's own metadata. A core installation brings what is marked *core*. Made by
`python scripts/licences.py`; `python3 dev.py package` fails on a package that is missing here or
whose licence is not one of those the script accepts. fsagent-tools itself is under the MIT licence.

| package | licence | needed by |
|---|---|---|
"""
# Licences that ask for no more than notices; MPL binds its own files only, LGPL a program that we
# start as it comes.
ACCEPTED = re.compile(
    r"MIT|BSD|ISC|Apache|PSF|Python Software Foundation|MPL|Mozilla Public|Unlicense|0BSD|HPND"
    r"|CNRI|LGPL|Lesser General Public|CC0|Zlib|Public Domain|Historical Permission",
    re.IGNORECASE,
)


def asked_by(name: str, extras: frozenset[str]) -> list[Requirement]:
    """What an installed distribution asks for here, with these extras."""
    environments: list[dict[str, str]] = [{"extra": extra} for extra in (*extras, "")]
    requirements = map(Requirement, distribution(name).requires or ())
    return [
        one
        for one in requirements
        if one.marker is None or any(one.marker.evaluate(each) for each in environments)
    ]


def reached(start: list[str]) -> dict[str, Distribution]:
    """All installed distributions that these requirements bring, by normalised name."""
    found: dict[str, Distribution] = {}
    seen, waiting = set(), [*map(Requirement, start)]
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if (name, extras := frozenset(one.extras)) in seen:
            continue
        seen.add((name, extras))
        try:
            found[name] = distribution(name)
            waiting += asked_by(name, extras)
        except PackageNotFoundError:
            print(f"not installed here: {name}", file=sys.stderr)
    return found


def licence(package: Distribution) -> str:
    """In its own words: the expression, else the classifiers, else the first line of the field."""
    about: Any = package.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    told = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    if named := sorted({c.split(" :: ")[-1] for c in told} - {"OSI Approved"}):
        return ", ".join(named)
    return str(about.get("License") or "not stated").strip().splitlines()[0][:60]


def rows() -> dict[str, str]:
    asked = {"core": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    users: dict[str, list[str]] = {}
    packages: dict[str, Distribution] = {}
    for extra, requirements in asked.items():
        if extra != "all":
            packages |= (brought := reached(requirements))
            for name in brought:
                users.setdefault(name, []).append(extra)
    found = {}
    for name, by in sorted(users.items()):
        user = "core" if "core" in by else ", ".join(by)
        found[name] = f"| {name} | {licence(packages[name])} | {user} |"
    return found


def kinds(licence: str) -> set[str]:
    return {kind.lower() for kind in ACCEPTED.findall(licence)}


def main() -> None:
    found = rows()
    if strange := [row for row in found.values() if not ACCEPTED.search(row.split("|")[2])]:
        sys.exit("Licences that nobody has looked at:\n" + "\n".join(strange))
    if "--check" not in sys.argv:
        TABLE.write_text(HEAD + "".join(f"{row}\n" for row in found.values()))
        return
    # Newer releases and other systems bring other packages: each that is here must be in the table,
    # with the licence it has, which a release may come to name otherwise ("MIT License", "MIT").
    table = TABLE.read_text().splitlines()
    named = {line.split("|")[1].strip(): line.split("|")[2] for line in table if line[:2] == "| "}
    wrong = [
        row
        for name, row in found.items()
        if kinds(named.get(name, "")).isdisjoint(kinds(row.split("|")[2]))
    ]
    if wrong:
        sys.exit("docs/licences.md lacks or differs; run scripts/licences.py:\n" + "\n".join(wrong))
    print(f"The licences of {len(found)} packages are as docs/licences.md says.")


if __name__ == "__main__":
    main()
