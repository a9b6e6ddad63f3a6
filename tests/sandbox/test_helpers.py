"""Helper programs are never what the model could have written, and are confined themselves."""

import ast
import os
import re
import subprocess
import sys
import venv
from contextlib import suppress
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.policy import Limits
from fsagent_tools.process.programs import Programs
from fsagent_tools.process.reader import run_reader
from fsagent_tools.sandbox import landlock
from tests.conftest import PATIENCE, eventually

REPO = Path(__file__).parents[2]
SITE = [path for path in sys.path if path.endswith("site-packages")]
needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")

AGENT = """
import sys, logging
sys.path[:0] = {paths!r}
logging.basicConfig(format="%(message)s")
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import launcher
launcher.NAMESPACES = {level!r} == "namespaces"
with_ = toolset("workspace").bind(Workspace({root!r}))
for name in ("rg", "ty", "ruff"):
    out = with_["write"].call({{"file_path": ".venv/bin/" + name, "content": {fake!r}}})
    print("write", out.ok)
print(with_["grep"].call({{"pattern": "needle"}}).text)
print(with_["lsp"].call({{"file_path": "a.py"}}).ok)
out = with_["bash"].call({{"command": "for name in rg ty ruff; do cp fake .venv/bin/$name; done"}})
print(out.data["sandbox"], out.text)
print(with_["grep"].call({{"pattern": "needle"}}).ok)
with_["lsp"].call({{"file_path": "a.py"}})
"""
FAKE = "#!/bin/sh\necho ran >> {mark}\nexit 1\n"


def planted(folder, name, mark):
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(FAKE.format(mark=mark))
    program.chmod(0o755)
    return program


@pytest.fixture
def project(tmp_path):
    """A project with an environment in it, whose programs would leave a mark."""
    root = tmp_path / "proj"
    venv.create(root / ".venv", symlinks=True)
    (root / "a.py").write_text("x: int = 'needle'\n")
    return root


@pytest.mark.parametrize("level", ["namespaces", "weaker"])
def test_an_agent_in_the_projects_own_environment_runs_nothing_of_it(project, tmp_path, level):
    mark = tmp_path / "ran"
    for name in ("rg", "ty", "ruff", "basedpyright-langserver", "pyrefly"):
        planted(project / ".venv/bin", name, mark)
    planted(project, "fake", mark)
    fake = FAKE.format(mark=mark)
    paths = [str(REPO), *SITE]
    script = AGENT.format(paths=paths, root=str(project), fake=fake, level=level)
    done = subprocess.run(
        [project / ".venv/bin/python", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{project}/.venv/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.stdout.startswith("write False\n" * 3)
    assert "a.py" in done.stdout
    assert done.stderr.count("Our own Python environment lies in the workspace") == 1
    assert not mark.exists()
    if "namespaces+" in done.stdout:  # where they are allowed
        assert done.stdout.count("Read-only file system") == 3


@pytest.mark.parametrize("way", ["file", "link", "chain", "folder"])
def test_a_program_that_really_lies_beneath_a_writable_root_is_passed_over(
    tmp_path, monkeypatch, way
):
    root, outside, other = tmp_path / "root", tmp_path / "outside", tmp_path / "other"
    inside = planted(root / "bin", "thing", tmp_path / "ran")
    good = planted(other, "thing", tmp_path / "ran")
    first = root / "bin"
    if way == "folder":
        first = outside
        outside.symlink_to(root / "bin")
    elif way != "file":
        first = outside
        outside.mkdir()
        (outside / "thing").symlink_to(inside)
        if way == "chain":  # through the root to a program outside it
            inside.unlink()
            inside.symlink_to(good)
    monkeypatch.setenv("PATH", f"{first}:{other}")
    assert Programs((str(root),)).find("thing") == str(good)
    assert Programs((str(root), str(other))).find("thing") is None


def test_further_writable_places_count(tmp_path):
    policy = Policy(allowed_paths=("**", f"{tmp_path}/more/**"))
    assert not Programs.of(tmp_path / "root", policy).is_outside(f"{tmp_path}/more/bin/x")


def test_a_place_that_is_opened_by_another_wildcard_counts(tmp_path):
    policy = Policy(allowed_paths=("**", f"{tmp_path}/mor[ef]/**"))
    assert not Programs.of(tmp_path / "root", policy).is_outside(f"{tmp_path}/more/bin/x")


def test_rustups_proxy_gives_way_to_the_default_toolchain(tmp_path, monkeypatch):
    """What a project's rust-toolchain.toml names is a program of the project."""
    root, mark, home = tmp_path / "root", tmp_path / "ran", tmp_path / "home"
    planted(root / "tc/bin", "rust-analyzer", mark)
    (root / "rust-toolchain.toml").write_text(f'[toolchain]\npath = "{root}/tc"\n')
    (root / "Cargo.toml").write_text("[package]\nname = 'a'\nversion = '0.1.0'\n")
    (root / "main.rs").write_text("fn main() {}\n")
    proxies = tmp_path / "cargo"
    planted(proxies, "rustup", mark)
    (proxies / "rust-analyzer").symlink_to("rustup")
    monkeypatch.setenv("PATH", f"{proxies}:/usr/bin:/bin")
    monkeypatch.setenv("RUSTUP_HOME", str(home))
    (home / "toolchains").mkdir(parents=True)
    (home / "settings.toml").write_text('default_toolchain = "stable-x"\n')
    workspace = Workspace(root)
    lsp = toolset("workspace").bind(workspace)["lsp"]
    out = lsp.call({"file_path": "main.rs"})
    assert "rustup component add rust-analyzer" in out.text
    own = home / "toolchains/stable-x/bin"
    own.mkdir(parents=True)
    (own / "rust-analyzer").write_text('#!/bin/sh\necho "pinned $RUSTUP_TOOLCHAIN" >&2; exit 1\n')
    (own / "rust-analyzer").chmod(0o755)
    out = lsp.call({"file_path": "main.rs"})
    workspace.close()
    assert "pinned stable-x" in out.text
    assert not mark.exists()


@needs_landlock
def test_a_language_server_reads_nothing_but_the_project_and_its_tools(tmp_path):
    outside = tmp_path / "outside/m"
    outside.mkdir(parents=True)
    (outside / "secret.py").write_text("TOKEN = 'TOPSECRET'\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "ty.toml").write_text(f'[environment]\nextra-paths = ["{outside}"]\n')
    (root / "a.py").write_text("from secret import TOKEN\nreveal_type(TOKEN)\nx: int = ''\n")
    workspace = Workspace(root)
    out = toolset("workspace").bind(workspace)["lsp"].call({"file_path": "a.py"})
    workspace.close()
    assert "a.py:3" in out.text
    assert "TOPSECRET" not in out.text


def test_a_language_server_reads_nothing_that_is_denied(tmp_path):
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "a.json").write_text("open")
    for name in (".env", "deep/.env"):
        (root / name).write_text("TOPSECRET")
    script = "cat .env deep/.env a.json >&2"
    policy = Policy(denied_paths=[".env"])
    workspace = Workspace(root, policy=policy, servers={"json": ("/bin/bash", "-c", script)})
    needs_namespaces(workspace)
    out = toolset("workspace").bind(workspace)["lsp"].call({"file_path": "a.json"})
    workspace.close()
    assert ("TOPSECRET" in out.text, "open" in out.text) == (False, True), out.text


def needs_namespaces(workspace):
    if not workspace.run("true").sandbox.startswith("namespaces"):
        pytest.skip("this system allows no namespaces")


@pytest.mark.parametrize("confined", ["namespaces", "landlock"])
@needs_landlock
def test_a_language_server_is_confined(tmp_path, lacking, confined):
    if confined == "landlock":
        lacking("namespaces")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.json").write_text("{}")
    (tmp_path / "outside").write_text("TOPSECRET")
    script = (
        f"echo x > {root}/new; echo x > {tmp_path}/new; cat {tmp_path}/outside {root}/a.json >&2;"
        " exec 3<>/dev/tcp/192.0.2.1/9; touch $TMPDIR/y && echo own >&2"
    )
    workspace = Workspace(root, servers={"json": ("/bin/bash", "-c", script)})
    out = toolset("workspace").bind(workspace)["lsp"].call({"file_path": "a.json"})
    workspace.close()
    assert out.text.startswith("Not checked:")
    assert "TOPSECRET" not in out.text
    assert "own" in out.text
    assert sorted(os.listdir(root)) == ["a.json"]
    assert not (tmp_path / "new").exists()


HOST = """
import subprocess, sys
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import reader
from fsagent_tools.process.reader import start_reader
from fsagent_tools.search import ripgrep
kind, root, mark = sys.argv[1:]
if kind == "untied":  # killed before it came to that
    kind, reader._tie = "search", lambda fd, group: None
ripgrep.find_ripgrep = lambda programs: None
with_ = toolset("workspace").bind(
    Workspace(root, servers={"json": (sys.executable, "-c", "import time; time.sleep(999)", mark)})
)
if kind == "search":
    with_["grep"].call({"pattern": f"(a+)+{mark}$"}, timeout=999)
elif kind == "server":
    with_["lsp"].call({"file_path": "a.json"})
else:
    start_reader(["/bin/sleep", mark], ["/bin"], "/", subprocess.DEVNULL).wait()
"""


def naming(mark, *others):
    """Processes whose words hold `mark`, but for `others`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) not in others:
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def is_tied(pid):
    """Whether a descriptor of the process makes the kernel send a signal (O_ASYNC)."""
    for path in Path(f"/proc/{pid}/fdinfo").glob("*"):
        with suppress(OSError):  # closed or ended meanwhile
            if int(path.read_text().split()[3], 8) & os.O_ASYNC:
                return True
    return False


@pytest.mark.parametrize("kind", ["search", "untied", "server", "reader"])
def test_a_helper_ends_with_a_host_that_is_killed(tmp_path, kind):
    mark = str(10**9 + os.getpid())
    (tmp_path / "a.json").write_text("a" * 60)
    with subprocess.Popen([sys.executable, "-c", HOST, kind, tmp_path, mark]) as host:
        try:
            assert eventually(lambda: naming(mark, host.pid))
            if kind != "server":  # those belong to a keeper
                assert eventually(lambda: [*map(is_tied, naming(mark, host.pid))] == [True])
        finally:  # it is waited for
            host.kill()
    assert eventually(lambda: not naming(mark))


def test_a_child_whose_host_is_gone_already_ends_at_once():
    read, write = os.pipe()
    code = "from fsagent_tools.process.reader import tie_to_host as tie; tie(); print('lives')"
    command = [sys.executable, "-c", code]
    env = {**os.environ, "FSAGENT_LEASH": str(read)}
    for end in (None, write):
        if end is not None:
            os.close(end)
        done = subprocess.run(
            command,
            env=env,
            pass_fds=(read,),
            capture_output=True,
            check=False,
            start_new_session=True,  # it ends its whole group
        )
        assert done.stdout == (b"" if end else b"lives\n")
    os.close(read)


def test_a_check_of_a_text_reads_nothing_else(tmp_path):
    (tmp_path / "secret").write_text("TOPSECRET")
    script = f"read go; cat {tmp_path}/secret; echo x > {tmp_path}/new; echo done; ulimit -t"
    command = ["/bin/bash", "-c", script]
    out, _ = run_reader(command, ["/bin", "/usr/bin"], b"\n", PATIENCE, Limits(cpu_seconds=10))
    assert (out, os.listdir(tmp_path)) == (b"done\n10\n", ["secret"])


def test_a_check_that_does_not_end_is_ended():
    with pytest.raises(TimeoutError):
        run_reader(["/bin/sleep", "999"], ["/bin"], b"", 0.1, Limits())


STARTERS = re.compile(
    r"os\.(fork|forkpty|popen|system|startfile|posix_spawnp?|(exec|spawn)[lv]p?e?)"
    r"|subprocess\.(?!DEVNULL|PIPE|STDOUT|TimeoutExpired)\w+|(multiprocessing|pty)\..*"
    r"|\w+\.(create_subprocess_\w+|subprocess_exec|subprocess_shell)"
    r"|(concurrent\.)?futures\.ProcessPoolExecutor"
)


def names_used(tree):
    """`module.name` of what a file imports or takes from a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield f"{module}.{name}"
            case ast.ImportFrom(module=module, names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Import(names=names):
                yield from (f"{alias.name}." for alias in names)


def test_nothing_but_the_launcher_starts_a_process():
    found = set()
    for path in [*REPO.glob("fsagent_tools/**/*.py"), *REPO.glob("adapters/**/*.py")]:
        if path.parent.name != "process":
            names = filter(STARTERS.fullmatch, names_used(ast.parse(path.read_text())))
            found |= {f"{path.name}: {name}" for name in names}
    keeper = {"kernel.py: os.fork", "first.py: os.posix_spawn"}  # which it calls
    assert found == keeper
