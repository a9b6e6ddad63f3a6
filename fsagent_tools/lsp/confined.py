"""What a language server may touch: it reads the project and toolchains, writes its own cache, and
reaches nobody.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from fsagent_tools.lsp.choice import Plan
from fsagent_tools.policy.programs import Programs, default_toolchain
from fsagent_tools.shell.profile import Launch, Profile

PASSED = (  # variables a server may see: where things are, never keys
    *("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "JAVA_HOME"),
    *("GOPATH", "GOROOT", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"),
)
FIXED = {
    "PYTHONSAFEPATH": "1",  # a server written in Python must not import from the project
    "GOTOOLCHAIN": "local",  # go.mod must not choose a toolchain to download
    "GOFLAGS": "-mod=readonly",
    "CARGO_NET_OFFLINE": "true",
    "RUSTC_WRAPPER": "",  # these go before what settings of the project name
    "RUSTC_WORKSPACE_WRAPPER": "",
}
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/proc", "/sys"),
    *("/dev/urandom", "/dev/random"),
    *(f"/etc/{name}" for name in ("ld.so.cache", "ssl", "alternatives", "passwd", "localtime")),
)
_AT_HOME = (  # what toolchains keep in a home directory, without their credentials
    *(".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/config.toml"),
    *("go/pkg", "go/src", ".local/share/uv", ".local/pipx", ".local/lib", ".m2/repository"),
)


def launch(
    plan: Plan, programs: Programs, own: str, hidden: tuple[str, ...], *, confined: bool
) -> Launch:
    """How the server of `plan` runs. own: the directory of its cache and temporary files.
    confined: see `Servers`.
    """
    readable = tuple(_readable(plan, programs))
    data = tuple(programs.writable)
    readable = (*readable, *data)
    profile = Profile((own,), readable, required=confined, hidden=hidden, data=data)
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    places = dict.fromkeys(("TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"), own)
    toolchain = default_toolchain()
    rustc = str(toolchain / "bin/rustc") if toolchain else programs.find("rustc")
    pinned = {"RUSTUP_TOOLCHAIN": toolchain.name} if toolchain else {}
    pinned |= {"RUSTC": rustc} if rustc else {}
    env = {**passed, **FIXED, **places, **pinned, "PATH": programs.path}
    kept = f"{own}/{plan.spec.name}-{crc32(str(plan.root).encode()):x}"
    command = [part.replace("{own}", kept) for part in plan.spec.command]
    return Launch(command, env, str(plan.root), profile=profile)


def _readable(plan: Plan, programs: Programs) -> Iterator[str]:
    yield from _SYSTEM
    yield from (os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix))
    yield from map(_installation, (*programs.path.split(os.pathsep), *plan.spec.command))
    home = Path.home()
    yield from (str(home / name) for name in _AT_HOME)
    settings = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    yield str(Path(settings, plan.spec.name))
    for name in ("GOROOT", "GOPATH", "GOMODCACHE", "RUSTUP_HOME", "JAVA_HOME"):
        yield from filter(os.path.isabs, os.environ.get(name, "").split(os.pathsep))


def _installation(path: str) -> str:
    """The directory tree that a program, or a directory of programs, was installed as."""
    real = Path(os.path.realpath(path))
    if "node_modules" in real.parts:
        return str(Path(*real.parts[: real.parts.index("node_modules") + 1]))
    folder = real if real.is_dir() else real.parent
    above = folder.parent
    shared = Path.home().is_relative_to(above) or above.name == ".local"
    return str(above if folder.name == "bin" and not shared else folder)
