"""`python3 dev.py demo`, `test`, `check`, ...: each installs what it needs into .venv first.

Any Python can read this file, so that an old one is told what is needed.
"""

from __future__ import print_function

import hashlib
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")
LINT = [
    "-m ruff format --check",
    "-m ruff check",
    "-m mypy",
    "scripts/snippets.py",
    "-m scripts.growth",
]
PYTEST = "-m pytest -n 3 --dist loadfile --no-loadscope-reorder -p tests.longest_first -m "
TEST, FULL = PYTEST + "'not full and not slow'", PYTEST + "'not slow'"
SHORT = "tests/web tests/lint tests/conformance/test_outcome.py tests/benchmark/test_repeatable.py"
LICENCES = "scripts/licences.py --check"
DOCS = "-m zensical build --clean --strict"
PACKAGE = "scripts/package.py"
TASKS = [  # name, dependency group, commands to run, what it is
    ("demo", "demo", ["examples/langchain_agent.py"], "an agent repairs a failing project"),
    ("test", "dev", [TEST], "the tests, in minutes; arguments go to pytest"),
    ("lint", "dev", LINT, "formatting, ruff, mypy, also of the documents; what grew"),
    ("check", "dev", LINT + [TEST], "lint, then test"),
    ("full", "dev", [FULL], "the tests and all matrices, servers, fuzzing and crashes"),
    ("slow", "dev", ["-m pytest -m slow"], "fuzzing, crash and race tests"),
    ("short", "dev", ["-m pytest -m slow " + SHORT], "those slow tests that take minutes"),
    ("docs", "docs", [DOCS], "the documentation, into site/; a warning is an error"),
    ("package", "dev", [LICENCES, PACKAGE], "wheel and licences; also: package --python FILE"),
    ("versions", "dev", [PACKAGE + " --extras"], "the wheel with all extras; also: --lowest"),
    ("matrix", "dev", ["scripts/matrix.py"], "adapters with the lowest versions of frameworks"),
    (
        "bench",
        "bench",
        ["-m benchmark"],
        "robustness, sessions, speed, tokens: each has --help",
    ),
]
USAGE = "usage: python3 dev.py TASK [arguments]\n\n" + "\n".join(
    "  {:8} {}".format(name, told) for name, _, _, told in TASKS
)


def run(*command):
    subprocess.run(command, cwd=ROOT, check=True)


def works(*command):
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def requirements(group):
    """The dependency group of pyproject.toml as arguments for pip, which older pips do not know."""
    import tomllib  # an older Python, which has none, was refused

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        groups = tomllib.load(file)["dependency-groups"]
    for each in groups[group]:
        if isinstance(each, dict):
            for inner in requirements(each["include-group"]):
                yield inner
        elif each.startswith("fsagent-tools"):  # this project, where it stands
            yield "--editable"
            yield each.replace("fsagent-tools", ".", 1)
        else:
            yield each


def install(group):
    """A dependency group into .venv; nothing to do while pyproject.toml is the same."""
    stamp = os.path.join(VENV, group + ".stamp")
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    whole = works(PYTHON, "-c", "")
    if whole and os.path.isfile(stamp):
        with open(stamp) as file:
            if file.read() == wanted:
                return
    if not works(sys.executable, "-m", "pip", "--version"):
        sys.exit("pip is missing: install it, on Debian and Ubuntu with `apt install python3-pip`.")
    if not whole:  # --without-pip: Debian ships venv but not ensurepip
        print("Making {} ...".format(VENV), flush=True)
        run(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
    print("Installing what `{}` needs into {} ...".format(group, VENV), flush=True)
    pip = [sys.executable, "-m", "pip", "--python", PYTHON]
    run(*(pip + ["install", "--quiet"] + list(requirements(group))))
    with open(stamp, "w") as file:
        file.write(wanted)


def main():
    words = sys.argv[1:] or ["--help"]
    if words[0] in ("-h", "--help", "help"):
        print(USAGE)
        return
    for name, group, commands, _ in TASKS:
        if name == words[0]:
            break
    else:
        sys.exit("There is no task {!r}.\n\n{}".format(words[0], USAGE))
    install(group)
    for command in commands[:-1]:
        run(PYTHON, *shlex.split(command))
    run(PYTHON, *(shlex.split(commands[-1]) + words[1:]))


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.exit(
            "fsagent-tools needs Python 3.11 or newer; this is " + sys.version.split()[0] + "."
        )
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(failure.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
