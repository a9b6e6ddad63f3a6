"""What the confinement of a command has refused, as far as the kernel or the output tells."""

import re

from fsagent_tools.process.launcher import NONE, Launch
from fsagent_tools.process.plain import has_loopback
from fsagent_tools.sandbox.connections import OUTSIDE

_OFF = "network is off here; ask the user"
_LOOKED_AT = 50_000  # characters from the end of the output
_NETWORK = re.compile(
    r"(?-i:\b(?:EAI_AGAIN|ENETUNREACH|ENOTFOUND)\b)|could not resolve|unable to resolve host"
    "|failure in name resolution|network is unreachable|name or service not known"
    "|no such host|failed to lookup address|dns error",
    re.IGNORECASE,
)
_SOCKET = re.compile(
    "(?:socket|inet): operation not permitted|(?:listen|connect) eperm"
    r'|/socket\.py", line \d+, in \w+\n.*\n(?:[ ~^]*\n)?PermissionError: \[Errno 1\]',
    re.IGNORECASE,
)
_TERMINAL = re.compile("pseudo-terminal|out of pty devices|openpt|no more ptys", re.IGNORECASE)
_LARGE = re.compile("file size limit exceeded|file too large|EFBIG", re.IGNORECASE)
_GIT = re.compile(
    r"could not (?:write|lock) config file .*: "
    r"(?:Device or resource busy|Read-only file system|Permission denied)"
)
_FILES = re.compile(
    "operation not permitted|read-only file system|device or resource busy", re.IGNORECASE
)
_CLOSED = re.compile("permission denied", re.IGNORECASE)
_NOT_RUN = 126  # of a shell: the file is no program, which nobody here has to do with


def refusals(
    launch: Launch, level: str, output: str, exit_code: int | None, tried: int
) -> tuple[str, ...]:
    """Sentences for the model. tried: how far the kernel saw it reach, see `connections`.

    Words alone are those of a failed command: a program may print them, and search for them. A
    lookup alone may be one of localhost.
    """
    profile, largest = launch.profile, launch.limits.file_size
    if profile.writable is None or level == NONE:
        return ()
    output, sentences = output[-_LOOKED_AT:], list[str]()
    silent = tried and not output.strip()
    spoken = (tried or exit_code) and _NETWORK.search(output)
    if not profile.network and (tried == OUTSIDE or silent or spoken):
        sentences.append(_OFF)
    elif not profile.network and exit_code and _SOCKET.search(output):
        opens = "namespaces" in level or has_loopback()
        sentences.append(
            f"{level}: it opens no socket of this kind; ask the user" if opens else _OFF
        )
    if _GIT.search(output):
        sentences.append(
            "the user's own git configuration is closed: leave out --global, or ask the user"
        )
    if exit_code and largest and _LARGE.search(output):
        sentences.append(f"files have at most {largest:,} bytes; ask the user (file_size)")
    if exit_code and "namespaces" not in level and _TERMINAL.search(output):
        sentences.append(f"{level}: no command opens a terminal here; ask the user")
    landlocked = "namespaces" not in level or profile.readable is not None or profile.must_hide
    denied = landlocked and exit_code != _NOT_RUN and _CLOSED.search(output)
    if exit_code and not sentences and (denied or _FILES.search(output)):
        places = "the workspace and $TMPDIR" if len(profile.writable) > 1 else "$TMPDIR"
        sentences.append(
            f"{level}: the sandbox may have refused this: commands write only below {places}; "
            "ask the user to open another place (writable)"
        )
    return tuple(sentences)
