"""A language server for words: those of a line with "local" are of that line, others of all files.

Lines with "#" are comments. Its first argument says how it fails.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

MODE, *REST = sys.argv[1:] or ["honest"]
IN, OUT = sys.stdin.buffer, sys.stdout.buffer
root = Path()
documents = {}  # URI -> version and text


def units(text):
    return len(text.encode("utf-16-le")) // 2


def lines_of(path):
    known = documents.get(path.as_uri())
    try:
        text = known[1] if known else path.read_bytes().decode("utf-8-sig")
    except OSError:
        return []
    return re.split("\r\n|\r|\n", text)


def words(path, only=None):
    """Ranges and names of a file's words, by what they are."""
    for number, line in enumerate(lines_of(path)):
        if "#" in line or (only is not None and number != only):
            continue
        for match in re.finditer(r"\w+", line):
            start, end = ({"line": number, "character": units(line[:at])} for at in match.span())
            yield {"start": start, "end": end}, match[0], number if "local" in line else None


def uses(params):
    """URI -> ranges."""
    at, file = params["position"], Path(params["textDocument"]["uri"].removeprefix("file://"))
    meant = next(
        ((name, local) for place, name, local in words(file, at["line"])
         if place["start"]["character"] <= at["character"] < place["end"]["character"]),
        None,
    )  # fmt: skip
    files = [file] if meant and meant[1] is not None else sorted(root.rglob("*.go"))
    found = {one.as_uri(): [p for p, *rest in words(one) if (*rest,) == meant] for one in files}
    return {uri: places for uri, places in found.items() if places}


def renamed(params):
    found, new = uses(params), params["newName"]
    changes = {u: [{"range": p, "newText": new} for p in places] for u, places in found.items()}
    if MODE == "waits":
        wait_for_a_change()
    if MODE == "malformed":
        return {"changes": 3}
    if MODE in ("version", "moves"):
        return {"documentChanges": [*documented(changes)]}
    spoil(changes, new)
    return {"changes": changes}


def spoil(changes, new):
    """Put a place in that does not fit."""
    edits = next(iter(changes.values()))
    first, far = edits[0]["range"], {"line": 900, "character": 0}
    inside = {"line": 0, "character": 1}
    more = {
        "overlaps": {"range": first, "newText": "other"},
        "beyond": {"range": {**first, "end": far}, "newText": ""},
        "inside-a-character": {"range": {"start": inside, "end": inside}, "newText": "x"},
    }
    edits += [more[MODE]] if MODE in more else []
    if MODE == "shifted":
        first["start"]["character"] += 1
        first["end"]["character"] += 1
    if MODE == "outside":
        changes[Path(REST[0]).as_uri()] = [{"range": first, "newText": new}]


def documented(changes):
    for uri, edits in changes.items():
        version = documents.get(uri, (None,))[0]
        if version and MODE == "version":
            version += 1
        yield {"textDocument": {"uri": uri, "version": version}, "edits": edits}
    if MODE == "moves":
        yield {"kind": "rename", "oldUri": uri, "newUri": f"{uri}2"}


def wait_for_a_change():
    """Once, of a file beside that was asked about, after the answer is made."""
    asked = Path(os.environ["TMPDIR"], "asked")
    if not asked.exists():
        asked.touch()
        while not (root / "b.go").read_text().startswith("new"):
            time.sleep(0.01)


def answer(method, params):
    if method == "initialize":
        global root
        root = Path(params["rootPath"])
        can = {"diagnosticProvider": {}, "referencesProvider": True}
        can["renameProvider"] = MODE != "only-finds" and {"prepareProvider": True}
        return {"capabilities": can}
    if method == "textDocument/diagnostic":
        return {"items": []}
    if method == "textDocument/references":
        if MODE == "late":
            time.sleep(60)
        found = uses(params)
        if MODE == "outside" and found:
            found[Path(REST[0]).as_uri()] = next(iter(found.values()))[:1]
        return [{"uri": uri, "range": place} for uri, places in found.items() for place in places]
    if method == "textDocument/prepareRename":
        return None if MODE == "unprepared" else {"defaultBehavior": True}
    return renamed(params) if method == "textDocument/rename" else None


while header := IN.readline():
    while IN.readline().strip():
        pass
    message = json.loads(IN.read(int(header.split(b":")[1])))
    method, params = message.get("method"), message.get("params") or {}
    if method in ("textDocument/didOpen", "textDocument/didChange"):
        given = params["textDocument"]
        text = params.get("contentChanges", [given])[0]["text"]
        documents[given["uri"]] = given["version"], text
    if method == "textDocument/didClose":
        documents.pop(params["textDocument"]["uri"], None)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if MODE == "refuses" and method == "textDocument/rename":
            reply["error"] = {"code": -32602, "message": "the name is taken"}
        else:
            reply["result"] = answer(method, params)
        body = json.dumps(reply).encode()
        OUT.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        OUT.flush()
