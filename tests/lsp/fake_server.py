"""A language server that misbehaves as its first argument says."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODE, *REST = sys.argv[1:]
REFRESH = "workspace/diagnostic/refresh"
IN, OUT = sys.stdin.buffer, sys.stdout.buffer


def send(**message):
    send_all([message])


def send_all(messages):
    """In one write: however loaded the machine is, no time passes between them."""
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    OUT.write(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))
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


def once():
    """True the first time any server of this test asks."""
    asked = Path(os.environ["TMPDIR"], "asked")
    if asked.exists():
        return False
    asked.touch()
    return True


def misbehave(number):
    """What the mode does in place of an answer; True when that was all."""
    if MODE == "dies":
        sys.exit(3)
    if MODE == "refuses":
        send(id=number, error={"code": -32603, "message": "no idea"})
    elif MODE == "blank" and session.text == "(nothing)":
        send(id=number, result=json.loads(REST[0]))
    elif MODE == "busy" and once():
        send(id=number, error={"code": -32801, "message": "content modified"})
    else:
        return MODE == "mute"
    return True


def chatter(number):
    """Messages nobody waits for."""
    if MODE == "foreign-ids":
        send(id=number + 1000, result={"items": [item("of nobody")]})
        send(id="x", result=None)
    if MODE == "malformed":
        send(method="textDocument/publishDiagnostics", params=["what"])
        send(method="$/progress", params=None)
        send(method="textDocument/publishDiagnostics", params={"uri": 7})
        broken = {"uri": "file://[", "diagnostics": []}
        send(method="textDocument/publishDiagnostics", params=broken)
    if MODE == "floods":
        for _ in range(20000):
            send(method="window/logMessage", params={"type": 3, "message": "x" * 100})


def begin():
    """What the mode does before the first message."""
    if MODE in ("nonsense", "huge"):
        odd = (
            b"Hello! I am no server.\n"
            if MODE == "nonsense"
            else b"Content-Length: 99999999999\r\n"
        )
        OUT.write(odd)
        OUT.flush()
    if MODE in ("nonsense", "huge", "deaf"):
        time.sleep(60)
    if MODE == "closes-first":
        os.close(1)
        time.sleep(0.3)
    if MODE in ("dies-at-start", "closes-first"):
        sys.exit("the configuration is missing")
    if MODE == "children":
        subprocess.Popen(["sleep", "300"])
    if MODE == "stderr":
        for _ in range(200):
            os.write(2, b"x" * 65536)


def progress(kind):
    return {"method": "$/progress", "params": {"token": "t", "value": {"kind": kind}}}


class Session:
    text = ""
    late = owed = None
    open = 0
    watched = ()

    def initialize(self, message):
        if MODE == "hangs":
            time.sleep(60)
        pulls = MODE not in ("registers", "silent-push", "owes") and not MODE.startswith("pushes")
        can = {"diagnosticProvider": {}} if pulls else {}
        send(id=message["id"], result={"capabilities": can})

    def initialized(self, message):
        if MODE == "registers":
            pull = {"id": "d", "method": "textDocument/diagnostic"}
            ask("client/registerCapability", {"registrations": [pull]})
        if MODE == "watches":
            self.watch()
        if MODE == "ailing":
            message = (
                f"cannot read deps: ran 'x': error: offline {os.environ['CARGO_NET_OFFLINE']}\nso"
            )
            state = {"health": "warning", "quiescent": True, "message": message}
            send(method="experimental/serverStatus", params=state)

    def watch(self):
        watch = {"id": "w", "method": "workspace/didChangeWatchedFiles"}
        ask("client/registerCapability", {"registrations": [watch]})

    def did_change_watched(self, message):
        names = [change["uri"].rpartition("/")[2] for change in message["params"]["changes"]]
        self.watched = (*self.watched, *sorted(names))

    def did_open(self, message):
        self.open += 1
        self.take(message["params"]["textDocument"], message["params"]["textDocument"])

    def did_change(self, message):
        self.take(message["params"]["textDocument"], message["params"]["contentChanges"][0])

    def did_close(self, message):
        self.open -= 1
        if MODE == "owes":
            self.late, self.owed = None, message["params"]["textDocument"] | {"diagnostics": []}

    def answer_late(self, uri):
        """Publish without a version: of a text "(later)" when the next one comes."""
        if self.late:
            send(method="textDocument/publishDiagnostics", params=self.late)
            time.sleep(0.3)
        told = {"uri": uri, "diagnostics": [item(self.text)]}
        self.late = told if self.text == "(later)" else None
        if not self.late:
            send(method="textDocument/publishDiagnostics", params=told)

    def pay(self, method):
        """Publish what was held back, that a closed document has no problems."""
        if self.owed:
            send(method="textDocument/publishDiagnostics", params=self.owed)
            self.owed = None
            if method == "textDocument/didOpen":
                time.sleep(0.3)

    def take(self, document, content):
        if MODE == "stops-reading":
            time.sleep(60)
        before, self.text = self.text, content["text"]
        if MODE == "owes":
            self.answer_late(document["uri"])
        if not MODE.startswith("pushes") or "(silence)" in self.text:
            return
        if MODE == "pushes-once" and before == self.text:
            return
        uri, version = document["uri"].replace("a", "%61"), document["version"]
        if MODE == "pushes-at-work":
            send(**progress("begin"))
        send_all(
            {
                "method": "textDocument/publishDiagnostics",
                "params": {"uri": uri, "version": number, "diagnostics": items},
            }
            for number, items in self.pushes(version)
        )

    def pushes(self, version):
        pushes = [(version, []), (version, [item(self.text.strip())])]
        if MODE == "pushes-old":
            return [(version - 1, [item("old")]), *pushes]
        return pushes

    def diagnostic(self, message):
        number = message["id"]
        if misbehave(number):
            return
        chatter(number)
        told = {"asks": question_all, "counts": lambda: f"{self.open} open", "watches": self.told}
        items = [item(told.get(MODE, self.text.strip)())]
        if MODE == "utf-16":
            items = [item("wide", 0, *map(int, REST))]
        reply = {"id": number, "result": {"kind": "full", "items": items}}
        if MODE == "hasty" and once():
            reply["result"]["items"] = []
            news = [progress("begin"), progress("end")]
            news = news if REST == ["work"] else [{"id": "r", "method": REFRESH, "params": None}]
            send_all([reply, *news])
        else:
            send(**reply)

    def told(self):
        return " ".join(self.watched) or "nothing"


begin()
session = Session()
ROUTES = {
    "initialize": session.initialize,
    "initialized": session.initialized,
    "textDocument/didOpen": session.did_open,
    "textDocument/didChange": session.did_change,
    "textDocument/didClose": session.did_close,
    "workspace/didChangeWatchedFiles": session.did_change_watched,
    "textDocument/diagnostic": session.diagnostic,
}
while True:
    received = receive()
    session.pay(received.get("method"))
    if route := ROUTES.get(received.get("method")):
        route(received)
    elif "id" in received and MODE != "mute":
        send(id=received["id"], error={"code": -32601, "message": "not known"})
