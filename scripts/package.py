"""Build the wheel, judge it, and use it in a fresh environment, away from the sources.

--python FILE: another interpreter for the environment. --extras: with each extra in turn, and the
newest versions there are; --extras --lowest: with the lowest that pyproject.toml allows. --out DIR:
where wheel and source archive are kept.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TRIED = ("langchain", "llamaindex", "web,media,lint,cli,config,otel")  # extras, together
BIN = Path(sys.executable).parent
OUTER = getattr(sys, "_base_executable", sys.executable)  # has pip; ours may not


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    print("$", *(str(word) for word in command), flush=True)
    subprocess.run([str(word) for word in command], cwd=cwd, check=True)


def built(into: Path) -> Path:
    """The wheel, after the judges have seen it and the source archive."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", into, ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *into.iterdir())
    wheel = next(into.glob("*.whl"))
    run(BIN / "check-wheel-contents", wheel)
    run(BIN / "pyroma", "--min", "10", ROOT)
    with ZipFile(wheel) as archive, tarfile.open(next(into.glob("*.tar.gz"))) as sources:
        names, kept = archive.namelist(), [name.split("/")[1] for name in sources.getnames()]
    packages = {name.split("/")[0] for name in names if name.endswith("__init__.py")}
    if untyped := [name for name in packages if f"{name}/py.typed" not in names]:
        sys.exit(f"These have no py.typed: {', '.join(untyped)}")
    if extra := {*kept} & {"tests", "benchmark", "docs", "examples"}:
        sys.exit(f"The source archive has what no wheel is made of: {', '.join(extra)}")
    if relative := re.findall(r"\]\((?!https?:|#)[^)]*\)", description(wheel)):
        sys.exit(f"On the package index these links lead nowhere: {', '.join(relative)}")
    return wheel


def description(wheel: Path) -> str:
    """The page that the package index shows."""
    with ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return archive.read(name).decode()


def lowest(extras: str) -> Iterator[str]:
    """What holds the direct dependencies of the extras, or else of the core, at their minimum."""
    named = [PROJECT["optional-dependencies"][name] for name in extras.split(",") if name]
    for requirement in [*chain(*named)] or PROJECT["dependencies"]:
        if match := re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", requirement):
            yield f"{match[1]}=={match[2]}"


def install(wheel: Path, python: str, place: Path, extras: str = "", least: bool = False) -> Path:
    """A new environment with the wheel; its interpreter."""
    run(python, "-m", "venv", "--without-pip", place)
    inside = place / "bin" / "python"
    what = f"{wheel}[{extras}]" if extras else str(wheel)
    pip = (OUTER, "-m", "pip", "--python", inside, "install", "--quiet")
    run(*pip, what, *(lowest(extras) if least else ()), cwd=place)
    return inside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=OUTER)
    parser.add_argument("--extras", action="store_true")
    parser.add_argument("--lowest", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "dist").mkdir()
        wheel = built(folder / "dist")
        for number, extras in enumerate(("", *(TRIED if given.extras else ()))):
            inside = install(wheel, given.python, folder / f"v{number}", extras, given.lowest)
            trial = (folder / "trial.py").resolve()
            trial.write_text((ROOT / "scripts" / "trial.py").read_text())
            run(inside, "-I", "-W", "error", trial, extras, cwd=folder)
        if given.out:
            shutil.copytree(folder / "dist", given.out, dirs_exist_ok=True)
    print("The package is good.")


if __name__ == "__main__":
    main()
