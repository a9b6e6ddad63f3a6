"""A language server that misbehaves as its first argument says."""

import json
import os
import subprocess
import sys
import time

MODE, *REST = sys.argv[1:]
IN, OUT = sys.stdin.buffer, sys.stdout.buffer


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    OUT.flush()


def receive():
    length = 0
    while (line := IN.readline()) not in (b"\r\n", b""):
        length = int(line.split(b":")[1])
    body = IN.read(length)
    if not body:
        sys.exit(0)
    return json.loads(body)


def item(message, line=0, start=0, end=1):
    at = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": at, "severity": 1, "message": message, "code": 7}


def ask(method, params):
    send(id=f"q-{method}", method=method, params=params)
    return receive()


def question_all():
    """Every request a server may send; the replies as one text."""
    watched = {"id": "w", "method": "workspace/didChangeWatchedFiles"}
    configuration = {"items": [{"section": "a.b"}, {}]}
    replies = [
        ask("workspace/configuration", configuration),
        ask("client/registerCapability", {"registrations": [watched]}),
        ask("client/unregisterCapability", {"unregisterations": [{"id": "w", "method": "x"}]}),
        ask("window/workDoneProgress/create", {"token": 1}),
        ask("window/showMessageRequest", {"type": 1, "message": "?"}),
        ask("workspace/applyEdit", {"edit": {}}),
        ask("workspace/workspaceFolders", None),
        ask("workspace/configuration", {"wrong": 1}),
        ask("made/up", {}),
    ]
    return json.dumps(
        [reply.get("result", reply.get("error", {}).get("code")) for reply in replies]
    )


def answer(request, text, uri):
    number = request["id"]
    if MODE == "mute":
        return
    if MODE == "mute-once" and not os.path.exists(REST[0]):
        open(REST[0], "w").close()
        return
    if MODE == "dies":
        sys.exit(3)
    if MODE == "dies-once" and not os.path.exists(REST[0]):
        open(REST[0], "w").close()
        sys.exit(3)
    if MODE == "refuses":
        send(id=number, error={"code": -32603, "message": "no idea"})
        return
    if MODE == "busy" and not os.path.exists(REST[0]):
        open(REST[0], "w").close()
        send(id=number, error={"code": -32801, "message": "content modified"})
        return
    if MODE == "foreign-ids":
        send(id=number + 1000, result={"items": [item("of nobody")]})
        send(id="x", result=None)
    if MODE == "malformed":
        send(method="textDocument/publishDiagnostics", params=["what"])
        send(method="$/progress", params=None)
        send(method="textDocument/publishDiagnostics", params={"uri": 7})
    said = question_all() if MODE == "asks" else text.strip()
    items = [item(said)]
    if MODE in ("utf-8", "utf-16"):
        items = [item("wide", 0, *map(int, REST))]
    send(id=number, result={"kind": "full", "items": items})


def main():
    if MODE == "nonsense":
        print("Hello! I am no language server.")
        sys.stdout.flush()
        time.sleep(60)
    if MODE == "huge":
        OUT.write(b"Content-Length: 99999999999\r\n\r\n{")
        OUT.flush()
        time.sleep(60)
    if MODE == "dies-at-start":
        sys.exit("the configuration is missing")
    if MODE == "deaf":
        time.sleep(60)
    if MODE == "children":
        subprocess.Popen(["sleep", "300"])
    if MODE == "stderr":
        for _ in range(200):
            os.write(2, b"x" * 65536)
    text, uri, open_now = "", "", 0
    while True:
        message = receive()
        method = message.get("method")
        if method == "initialize":
            if MODE == "hangs":
                time.sleep(60)
            pull = MODE not in ("pushes", "pushes-old", "registers", "silent-push")
            can = {"diagnosticProvider": {}} if pull else {}
            if MODE == "utf-8":
                can["positionEncoding"] = "utf-8"
            send(id=message["id"], result={"capabilities": can})
        elif method == "initialized" and MODE == "registers":
            ask(
                "client/registerCapability",
                {"registrations": [{"id": "d", "method": "textDocument/diagnostic"}]},
            )
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            document = message["params"]["textDocument"]
            uri = document["uri"]
            changes = message["params"].get("contentChanges")
            text = changes[0]["text"] if changes else document["text"]
            open_now += not changes
            if MODE == "stops-reading":
                time.sleep(60)
            if MODE.startswith("pushes"):
                version = document["version"]
                where = {"uri": uri.replace("a", "%61")}
                if MODE == "pushes-old":
                    old = {**where, "version": version - 1, "diagnostics": [item("old")]}
                    send(method="textDocument/publishDiagnostics", params=old)
                new = {**where, "version": version, "diagnostics": []}
                send(method="textDocument/publishDiagnostics", params=new)
                time.sleep(0.05)
                new["diagnostics"] = [item(text.strip())]
                send(method="textDocument/publishDiagnostics", params=new)
        elif method == "textDocument/didClose":
            open_now -= 1
        elif method == "textDocument/diagnostic":
            if MODE == "floods":
                for _ in range(20000):
                    send(method="window/logMessage", params={"type": 3, "message": "x" * 100})
            answer(message, f"{open_now} open" if MODE == "counts" else text, uri)


main()
