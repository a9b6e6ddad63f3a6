"""Sent to a place as text, before anything of ours is there: looks what is, and installs."""

import base64
import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile

TRY = """import sys
from importlib.metadata import version
sys.path.insert(0, sys.argv[1])
import fsagent_tools_places.far
for name in sys.argv[2:]: version(name)"""
ELSEWHERE = "set XDG_STATE_HOME there to a directory of this user with 100 MB free."


def look(package: str, settings: str) -> dict:  # type: ignore[type-arg] # for old ones
    """Where the far end is to be, and what of it is there. settings: a hash of them."""
    if sys.version_info < (3, 11):
        return {"error": "It has Python %s.%s; 3.11 is needed: python=..." % sys.version_info[:2]}
    far = _far()
    os.makedirs(far, 0o700, exist_ok=True)
    here = os.path.join(far, package)
    for place in (far, here):
        if os.path.lexists(place) and not _is_own(place):
            return {"error": "Others may write to %s: %s" % (place, ELSEWHERE)}
    known = [settings, os.uname()[1]]  # a home may be that of several machines
    name = hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]
    given = os.path.exists(os.path.join(here, name + ".settings"))
    there = os.path.isdir(here)
    found = {"far": far, "there": there, "given": given, "name": name}
    return dict(found, here=os.getcwd(), home=os.path.expanduser("~"))


def install(package: str, sent: str, requirements: str) -> dict:  # type: ignore[type-arg]
    """sent: files that hold the wheel; "" where `requirements` name what is installed."""
    here = os.path.join(_far(), package)
    made = tempfile.mkdtemp(dir=_far())
    try:
        wrong = _unpacked(made, sent, package) or _complete(made, bool(sent), requirements)
        if wrong:
            return {"error": wrong}
        try:
            os.rename(made, here)
        except OSError:  # another was first
            if not os.path.isdir(here):
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return {}


def give(package: str, sent: str, name: str) -> dict:  # type: ignore[type-arg]
    """The settings of the far end of that name."""
    file, made = tempfile.mkstemp(dir=_far())
    with os.fdopen(file, "wb") as settings:
        settings.write(_read(sent))
    os.replace(made, os.path.join(_far(), package, name + ".settings"))
    return {}


def _far() -> str:
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(os.path.realpath(state), "fsagent", "far")


def _is_own(place: str) -> bool:
    found = os.lstat(place)
    is_closed = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
    return is_closed and found.st_uid == os.geteuid()


def _read(sent: str) -> bytes:
    """What files have, as "NAME.NUMBER" says: so many, in base64."""
    key, _, number = sent.partition(".")
    data = b""
    for name in [os.path.join(_far(), key + "." + str(n)) for n in range(int(number))]:
        with open(name, "rb") as part:
            data += part.read()
        os.unlink(name)
    return base64.b64decode(data)


def _unpacked(made: str, sent: str, package: str) -> str:
    """What is wrong."""
    if not sent:
        return ""
    data = _read(sent)
    if hashlib.sha256(data).hexdigest()[:32] != package:
        return "What arrived is not what was sent."
    zipfile.ZipFile(io.BytesIO(data)).extractall(made)
    return ""


def _complete(made: str, is_wheel: bool, requirements: str) -> str:
    """What is wrong: pip gets what is missing."""
    wanted = json.loads(requirements)
    tried = [sys.executable, "-I", "-c", TRY, made] + [_name(one) for one in wanted]
    if is_wheel and subprocess.call(tried, stdin=-3, stdout=-3, stderr=-3) == 0:
        return ""
    pip = [sys.executable, "-I", "-m", "pip", "install", "-q", "--target", made]
    done = subprocess.run(pip + wanted, stdin=-3, stdout=-1, stderr=-2, check=False)
    return "pip: " + done.stdout.decode(errors="replace")[-300:].strip() if done.returncode else ""


def _name(requirement: str) -> str:
    found = ""
    for letter in requirement:
        if not (letter.isalnum() or letter in "-_."):
            break
        found += letter
    return found


def _done(task: str, *given: str) -> dict:  # type: ignore[type-arg]
    tasks = {"look": look, "install": install, "give": give}  # type: dict[str, object]
    try:
        return tasks[task](*given)  # type: ignore[operator, no-any-return]
    except OSError as error:
        return {"error": "%s: %s" % (error, ELSEWHERE)}


if __name__ == "__main__":
    print("\nfsagent" + json.dumps(_done(*sys.argv[1:])))
