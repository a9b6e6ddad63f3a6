"""Where tasks come from: a git repository, published packages, this Python's own modules."""

import argparse
import sysconfig
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from benchmark.agent.changes import changes
from benchmark.agent.fetched import AnyTask, fetched
from benchmark.agent.source import Files
from benchmark.agent.tasks import repository, tasks
from benchmark.releases import Package
from benchmark.releases import repository as released

ROOT = Path(__file__).parents[2]
LARGEST = 250_000  # bytes of a file of a package
PACKAGES = (
    "boltons==25.0.0", "more-itertools==10.8.0", "tabulate==0.9.0", "toolz==1.0.0",
    "inflection==0.5.1", "sortedcontainers==2.4.0",
)  # fmt: skip
MODULES = ("bisect", "fnmatch", "getopt", "heapq", "py_compile", "shlex", "string", "textwrap")


def published(names: Sequence[str]) -> dict[str, Files]:
    """Files of source archives, by package; downloaded once."""
    found = dict[str, Files]()
    for name, _, version in (one.partition("==") for one in names):
        files = repository(released(Package("pypi", name, (version,))), LARGEST)
        found[name] = {f"{name}/{path}": text for path, text in files.items()}
    return found


def standard() -> dict[str, Files]:
    """A few modules of this Python as one package: real code that needs no network."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = {f"lib/{name}.py": Path(folder, f"{name}.py").read_text("utf-8") for name in MODULES}
    return {"lib": {"lib/__init__.py": "", **files}}


def prepared(options: argparse.Namespace) -> tuple[Files, Sequence[AnyTask], str]:
    """The files and tasks of a run, and what they are of."""
    most = options.tasks
    if options.set == "harness":
        if not options.repo or options.model.startswith("scripted"):
            raise SystemExit("--set harness wants --repo CHECKOUT of harness-bench-fast, --model.")
        return {}, fetched(options.repo, most), options.repo.name
    if options.set == "bugs":
        folder = options.repo or ROOT
        files = repository(folder)
        return files, tasks(files, 4 if options.quick else most, options.tests), folder.name
    if options.repo:
        packages: dict[str, Files] = {"": repository(options.repo, LARGEST)}
        where = options.repo.name
    elif options.quick:
        packages, where, most = standard(), "modules of this Python", 5
    else:
        packages, where = published(PACKAGES), f"{len(PACKAGES)} packages"
    files = dict(chain.from_iterable(each.items() for each in packages.values()))
    return files, changes(packages, most, options.tests), where
