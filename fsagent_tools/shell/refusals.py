"""What the confinement of a command has refused, as far as its output tells."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsagent_tools.shell.runner import Command

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
_LARGE = re.compile("file size limit exceeded|file too large|EFBIG", re.IGNORECASE)
_GIT = re.compile(
    r"could not (?:write|lock) config file (.*): "
    r"(?:Device or resource busy|Read-only file system|Permission denied)"
)
_FILES = re.compile(
    "operation not permitted|read-only file system|device or resource busy", re.IGNORECASE
)
_CLOSED = re.compile("permission denied", re.IGNORECASE)
_NOT_RUN = 126  # of a shell: the file is no program, which nobody here has to do with


def refusals(command: "Command", level: str, output: str, exit_code: int | None) -> tuple[str, ...]:
    """Sentences for the model.

    Words alone are those of a failed command: a program may print them, and search for them.
    """
    profile, largest = command.launch.profile, command.launch.limits.file_size
    if profile.writable is None or level == "none":
        return ()
    output, sentences = output[-_LOOKED_AT:], list[str]()
    is_whole = "bubblewrap" in level
    for path in profile.hidden if exit_code and profile.must_hide else ():
        name = path.rpartition("/")[2]
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", f"{command.script}\n{output}"):
            sentences.append(f"denied_paths closes {name} to commands; ask the user")
    if exit_code and profile.network is False and _NETWORK.search(output):
        sentences.append(_OFF)
    elif exit_code and profile.network is False and _SOCKET.search(output):
        kind = f"{level}: commands open no socket of this kind; ask the user"
        sentences.append(kind if is_whole else _OFF)
    denied = not is_whole and exit_code != _NOT_RUN and _CLOSED.search(output)
    if exit_code and (denied or _FILES.search(output)):
        sentences += _protected(command, output)
    if (found := _GIT.search(output)) and not found[1].startswith((".git", *profile.writable)):
        sentences.append("the user's own git configuration is closed: leave out --global")
    if exit_code and largest and _LARGE.search(output):
        sentences.append(f"files have at most {largest:,} bytes; ask the user (file_size)")
    if exit_code and not sentences and (denied or _FILES.search(output)):
        places = "the workspace and $TMPDIR" if len(profile.writable) > 1 else "$TMPDIR"
        sentences.append(
            f"{level}: the sandbox may have refused this: commands write only below {places}; "
            "ask the user to open another place (writable)"
        )
    return tuple(sentences)


def _protected(command: "Command", output: str) -> list[str]:
    """Which protected name the output tells of."""
    for path in command.launch.profile.read_only:
        parts = path.split("/")
        if any("/".join(parts[-depth:]) in output for depth in (1, 2, 3)):
            name = "/".join(parts[-2:])
            way = "use `git -c`, or ask" if ".git" in parts else "ask"
            return [f"{name} is protected from commands; {way} the user (protected=())"]
    return []
