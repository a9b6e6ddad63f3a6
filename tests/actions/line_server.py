"""A language server: a line `error: text` is an error that says text; `mute` never answers."""

import json
import re
import sys

IN, OUT = sys.stdin.buffer, sys.stdout.buffer
SEVERITIES = {"error": 1, "warning": 2, "hint": 4}
text = ""


def wide(part):
    return len(part.encode("utf-16-le")) // 2


def items():
    for number, line in enumerate(text.split("\n")):
        if match := re.search(r"(error|warning|hint): (.*\S)", line):
            start, end = ({"line": number, "character": wide(line[:at])} for at in match.span())
            severity, message = SEVERITIES[match[1]], match[2]
            yield {
                "range": {"start": start, "end": end},
                "severity": severity,
                "message": message,
                "source": "fake",
                "code": "E1",
            }


while header := IN.readline():
    IN.readline()
    message = json.loads(IN.read(int(header.split(b":")[1])))
    params, result = message.get("params") or {}, None
    if message["method"] in ("textDocument/didOpen", "textDocument/didChange"):
        text = params.get("contentChanges", [params["textDocument"]])[0]["text"]
    if message["method"] == "initialize":
        result = {"capabilities": {"diagnosticProvider": {}}}
    if message["method"] == "textDocument/diagnostic" and "mute" not in sys.argv:
        result = {"kind": "full", "items": list(items())}
    if result:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        OUT.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        OUT.flush()
