"""The image of `examples/remote`: what can be checked of it without building one."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
import venv
from fnmatch import fnmatch
from pathlib import Path

import pytest

from fsagent_tools import select_tools
from tests.conftest import PATIENCE

yaml = pytest.importorskip("yaml", reason="needs pyyaml")
ROOT = Path(__file__).parents[1]
REMOTE = ROOT / "examples" / "remote"
COMPOSE = yaml.safe_load((REMOTE / "compose.yaml").read_text())
TEXT = re.sub(r"\\\n", " ", (REMOTE / "Dockerfile").read_text())
STEPS = [tuple(re.split(r"\s+", line, maxsplit=1)) for line in TEXT.splitlines() if line[:1] > "#"]
CLEAN = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


def of(kind):
    return [rest for name, rest in STEPS if name == kind]


def enters(path):
    """Whether a file is part of what an image is built from: the last rule that fits decides."""
    inside = True
    for rule in (ROOT / ".dockerignore").read_text().split("\n"):
        pattern = rule.removeprefix("!").removeprefix("**/")
        whole = [path, *map(str, Path(path).parents)]
        names = Path(path).parts if "**/" in rule else whole
        if pattern and pattern[0] != "#" and any(fnmatch(name, pattern) for name in names):
            inside = rule[0] == "!"
    return inside


def test_only_what_is_installed_enters_the_image():
    for path in (".git/config", ".venv/bin/python", ".env", "tests/conftest.py", "docs/edit.svg"):
        assert not enters(path), path
    assert not enters("fsagent_tools/__pycache__/call.cpython-313.pyc")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    readme = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
    files = [
        *(part["path"] for part in readme),
        *project["project"]["license-files"],
        "pyproject.toml",
    ]
    for path in (*(f"{package}/__init__.py" for package in packages), *files):
        assert enters(path), path
        assert (ROOT / path).is_file()


def test_the_user_is_a_number_that_is_made_and_not_root():
    (user,) = of("USER")
    number = re.fullmatch(r"(\d+):\1", user)[1]
    assert number != "0"
    assert f"--uid {number} " in " ".join(of("RUN"))
    kinds = [kind for kind, _ in STEPS]
    assert kinds.index("USER") > max(n for n, kind in enumerate(kinds) if kind in ("RUN", "COPY"))


def test_the_command_serves_where_compose_looks():
    command = json.loads(of("CMD")[0])
    assert command[:3] == ["fsagent", "--root", of("WORKDIR")[0]]
    assert command[-2:] == ["--http", f"0.0.0.0:{of('EXPOSE')[0]}"]
    for service in COMPOSE["services"].values():
        build = service["build"]
        assert (REMOTE / build["context"]).resolve() == ROOT
        assert ROOT / build["dockerfile"] == REMOTE / "Dockerfile"
        (port,) = service["ports"]
        assert re.fullmatch(rf"127\.0\.0\.1:\d+:{of('EXPOSE')[0]}", port)
        files, state = (volume.partition(":") for volume in service["volumes"])
        assert files[2] == of("WORKDIR")[0]
        assert f"XDG_STATE_HOME={state[2]}" in of("ENV")
        assert state[0] in COMPOSE["volumes"]


def test_no_two_services_share_files_or_ports():
    services = COMPOSE["services"].values()
    taken = [(*service["volumes"], *service["ports"]) for service in services]
    assert len({one for each in taken for one in each}) == sum(map(len, taken))


def test_both_end_where_there_is_no_token(tmp_path):
    for service in COMPOSE["services"].values():
        assert service["environment"]["FSAGENT_SERVE_TOKEN"].startswith("${FSAGENT_SERVE_TOKEN:?")
    done = started([Path(sys.executable).with_name("fsagent")], tmp_path, FSAGENT_SERVE_TOKEN="")
    assert (
        "Set a token (for `fsagent serve` in FSAGENT_SERVE_TOKEN)"
        in done.communicate(timeout=PATIENCE)[1]
    )
    assert done.returncode == 2


def started(program, root, **environment):
    """The command of the image, for other files and at a free port."""
    words = json.loads(of("CMD")[0])[1:]
    moved = {of("WORKDIR")[0]: str(root), f"0.0.0.0:{of('EXPOSE')[0]}": "0.0.0.0:0"}
    return subprocess.Popen(
        [*program, *(moved.get(word, word) for word in words)],
        env={**CLEAN, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_what_the_image_installs_serves(tmp_path):
    """In a fresh environment, of what enters the image; without the steps that root does."""
    source, place = tmp_path / "src", tmp_path / "venv"
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
    for path in filter(enters, listed.splitlines()):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes((ROOT / path).read_bytes())
    venv.create(place, with_pip=True)
    (install,) = (step for step in of("RUN") if step.startswith("pip "))
    words = shlex.split(install.partition("&&")[0].replace("/src", str(source)))
    subprocess.run([place / "bin" / words[0], *words[1:]], check=True, env=CLEAN)
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("here\n")
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "FSAGENT_SERVE_TOKEN": "s3cret"}
    with started([place / "bin/fsagent"], tmp_path / "work", **state) as serving:
        port = re.search(r":(\d+)/mcp", serving.stderr.readline())[1]
        (read,) = select_tools(f"http://127.0.0.1:{port}", only=["read"], token="s3cret")
        assert "here" in read.call({"file_path": "a.txt"}).text
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=PATIENCE)
    assert serving.returncode in (0, -signal.SIGTERM)
