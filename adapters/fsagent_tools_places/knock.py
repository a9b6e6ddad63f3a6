"""Run at a place for each call: brings a request to the far end, which it starts if it is away.

With what Python has built in, since more than half of a short call would be imports.
"""

import _socket
import binascii
import fcntl
import os
import select
import sys

HERE = os.path.abspath(__file__).rsplit("/", 2)[0]
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from fsagent_tools_places.far import main; main(sys.argv[2])"
)


def main() -> None:
    """NAME REQUEST, where the request is packed as base64, or @FILES that are; or NAME alone."""
    name, *asked = sys.argv[1:]
    there = _socket.socket(_socket.AF_UNIX)
    answer = connected(there, name)
    if not asked and not answer:
        return relay(there)
    if not answer:
        there.sendall(b"0 " + binascii.a2b_base64(whole(asked[0])) + b"\n")
        while not answer.endswith("\n") and (piece := there.recv(1 << 16)):
            answer += piece.decode()  # ASCII
        answer = answer.partition(" ")[2]
    print(f"\nfsagent{answer}")
    return None


def connected(there: _socket.socket, name: str) -> str:
    """The answer, if it cannot be."""
    before = os.getcwd()
    os.chdir(HERE)  # since the path of a socket is short
    try:
        if there.connect_ex(f"{name}.sock") == 0:
            return ""
        with open(f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if there.connect_ex(f"{name}.sock") == 0:
                return ""
            refused = started(name, before)
            if not refused:
                there.connect(f"{name}.sock")
            return refused
    finally:
        os.chdir(before)


def started(name: str, directory: str) -> str:
    """The answer, if it cannot be."""
    import json
    import subprocess

    words = [sys.executable, "-I", "-c", START, HERE, name]
    with open(f"{name}.log", "w") as log:
        process = subprocess.Popen(
            words,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            text=True,
        )
    said = process.stdout.readline() if process.stdout else ""
    if said == "ready\n":
        return ""
    with open(f"{name}.log") as log:
        why = json.loads(said) if said else log.read()[-500:] or "It did not start."
    return json.dumps({"state": "refused", "piece": why})


def whole(request: str) -> str:
    """What is too long for a command is in files beside this."""
    if not request.startswith("@"):
        return request
    key, _, number = request[1:].partition(".")
    names = [f"{HERE}/../{key}.{n}" for n in range(int(number))]
    parts = []
    for name in names:
        with open(name) as file:
            parts.append(file.read())
    for name in names:
        os.unlink(name)
    return "".join(parts)


def relay(there: _socket.socket) -> None:
    """Until one of both ends: what comes here goes there, and the other way round."""
    ways = {0: there.fileno(), there.fileno(): 1}
    while True:
        for ready in select.select([*ways], [], [])[0]:
            data = memoryview(os.read(ready, 1 << 16))
            if not data:
                return
            while data:
                data = data[os.write(ways[ready], data) :]


if __name__ == "__main__":
    main()
