"""The environment of a command: an allow-list, so that no secret and no loader hook gets in."""

import _thread
import fnmatch
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache

from fsagent_tools.errors import CommandFailed

# What programs need to find themselves, the user's files, the language and the time zone. Not here
# on purpose: LD_*, BASH_ENV, ENV, PYTHON*, GIT_*, NODE_OPTIONS, RIPGREP_CONFIG_PATH, any *_TOKEN.
ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE", "LC_*"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT"),
    *("NVM_DIR", "XDG_*_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "CI"),
)
OFFLINE = {  # without a network to try again is to wait; pip says the reason when it tries again
    **dict.fromkeys(("UV_HTTP_RETRIES", "CARGO_NET_RETRY", "BUNDLE_RETRY"), "0"),
    **dict.fromkeys(("npm_config_fetch_retries", "POETRY_REQUESTS_MAX_RETRIES"), "0"),
    "CONDA_REMOTE_MAX_RETRIES": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_update_notifier": "false",
}
CACHES = {  # -> where in the directory of caches
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
    "PNPM_HOME": "pnpm",
    "GOCACHE": "go-build",
    "GRADLE_USER_HOME": "gradle",
}
# Without a network what the user has downloaded is read where it is, and none can be added.
DOWNLOADS = {"XDG_CACHE_HOME": "", "CARGO_HOME": "cargo", "GOMODCACHE": "go"}
_NAMED = re.compile(r"(?:\$\{?|\bprintenv |\benv\.|[\"'])([A-Z_][A-Z0-9_]+)\b")
# git takes the message that it proposes, or gives up: an editor would wait for nobody, to the end.
DEFAULTS = {"PATH": os.defpath, "TERM": "dumb", "LANG": "C.UTF-8", "GIT_EDITOR": "true"}
LIVE = {"PYTHONUNBUFFERED": "1"}  # a loop that prints takes several times as long with it


def environment(
    allow: Iterable[str], temp_dir: str, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The host's variables that the built-in list or `allow` names, then ours, then `extra`."""
    wanted = _pattern((*ALLOWED, *allow))
    passed = {name: value for name, value in os.environ.items() if wanted.match(name)}
    ours = {"TMPDIR": temp_dir, "TMP": temp_dir, "TEMP": temp_dir}
    return {**DEFAULTS, **passed, **ours, **(extra or {})}


def unpassed(script: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Variables of the host that `script` reads and `env` lacks; not those that it sets itself."""
    names = dict.fromkeys(_NAMED.findall(script))
    unset = (name for name in names if name in os.environ and name not in env)
    return tuple(name for name in unset if not re.search(rf"\b{name}=|\bread .*{name}", script))


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, names)))


class PrivateDirectory:
    """Of mode 0700, by its real path; it goes with `close`, with the object, or with the process
    that made it. Raises `CommandFailed`.
    """

    def __init__(self, prefix: str) -> None:
        with needing_temporary():
            self.path = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
        self._finalizer = weakref.finalize(self, in_background, _remove, self.path, os.getpid())

    def close(self) -> None:
        if found := self._finalizer.detach():
            _, _, (_, *arguments), _ = found
            _remove(*arguments)


def _remove(path: str, maker: int) -> None:
    if os.getpid() == maker:  # and not one that was forked from it
        shutil.rmtree(path, ignore_errors=True)


def in_background(work: Callable[..., object], *arguments: object) -> None:
    """For finalizers that wait or touch files; at exit, they do it at once.

    Garbage is collected in any thread: one that holds a lock that the work has to wait for, or one
    whose event loop is watched for blocking calls, such as that of `langgraph dev`.
    """
    if threading.main_thread().is_alive():
        with suppress(RuntimeError):  # there can be no more threads
            _thread.start_new_thread(work, arguments)  # a `Thread` would wait until it runs
            return
    work(*arguments)


@contextmanager
def needing_temporary() -> Iterator[None]:
    """Around what makes temporary files for a command. Raises `CommandFailed` if it cannot."""
    try:
        yield
    except OSError as error:
        raise CommandFailed(
            f"No temporary file can be made here: {error.strerror}. Nothing was run.",
            hint="The host has to make room, or set TMPDIR to a directory that can be written.",
        ) from None
