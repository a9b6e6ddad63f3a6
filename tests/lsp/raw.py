"""A language server asked without any of our code, for its own answer."""

import json
import subprocess
import threading
from itertools import count
from queue import Queue


class RawServer:
    """One server for a directory. opened: files that it is shown, with their language ID."""

    def __init__(self, command, root, opened, language):
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._ids, self._replies = count(1), Queue()
        self._published = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        folder = {"uri": root.as_uri(), "name": root.name}
        capabilities = {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {"workspaceFolders": True, "configuration": True},
            "textDocument": {"rename": {"prepareSupport": True}, "publishDiagnostics": {}},
        }
        hello = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": [folder]}
        self.ask("initialize", {**hello, "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})
        for file in opened:
            document = {"uri": file.as_uri(), "languageId": language, "version": 1}
            whole = {"textDocument": {**document, "text": file.read_text()}}
            self._send({"method": "textDocument/didOpen", "params": whole})

    def published(self, file, timeout):
        """Wait until it has said something of the file."""
        with self._changed:
            return self._changed.wait_for(lambda: file.as_uri() in self._published, timeout)

    def ask(self, method, params):
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            reply = self._replies.get(timeout=60)
            if reply["id"] == number:
                return reply.get("result")

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self):
        stream = self._process.stdout
        while line := stream.readline():
            size = 0
            while line.strip():
                size = int(line.split(b":")[1]) if line.startswith(b"Content-Length") else size
                line = stream.readline()
            message = json.loads(stream.read(size))
            if "method" not in message:
                self._replies.put(message)
            elif "id" in message:
                many = [None] * len((message.get("params") or {}).get("items") or ())
                self._send({"id": message["id"], "result": many or None})
            elif message["method"].endswith("/publishDiagnostics"):
                with self._changed:
                    self._published[message["params"]["uri"]] = True
                    self._changed.notify_all()
