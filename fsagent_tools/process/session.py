"""What a session of a shell keeps from one command to the next: a file of its state, no process.

So a command that hangs or is killed takes no session with it, and each is confined for itself.
"""

import shlex
from collections.abc import Mapping

# What cannot be set is passed over when the file is read; a command's own EXIT trap keeps nothing.
_KEEP = (
    "{ set +x; } 2>/dev/null; unset _begun; "
    "{ builtin declare -p; builtin declare -f; builtin alias -p; }"
)


def begun(script: str, startup: str) -> str:
    """The script in a shell that begins with `startup`."""
    return f"{startup}\n{script}" if startup else script


def continued(
    script: str, file: str, startup: str, env: Mapping[str, str], *, stay: bool = False
) -> str:
    """The script where the last one that named `file` left off: directory, variables, functions.

    stay: in the directory in which it is started. env: wins over what was kept.
    """
    place = shlex.quote(file)
    given = "".join(f"export {name}={shlex.quote(value)}; " for name, value in env.items())
    return (
        f"_begun=$PWD; shopt -s expand_aliases; "
        f"if [ -f {place} ]; then . {place} 2>/dev/null; else :\n{startup}\nfi; "
        f'builtin cd -- "${"_begun" if stay else "PWD"}" || builtin cd -- "$_begun"; {given}'
        f"trap '{_KEEP} >|{place}.$$ && command -p mv -f {place}.$$ {place}' EXIT; "
        f"eval {shlex.quote(script)}"
    )
