"""A bucket on loopback that speaks as much of S3 as its conditional writes need."""

import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LISTED = (
    "<Contents><Key>{}</Key><LastModified>{}</LastModified>"
    "<ETag>{}</ETag><Size>{}</Size></Contents>"
)


class Bucket(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]
    lock: threading.Lock
    honest = True  # else conditions are not looked at, as by services that do not know them

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        headers.setdefault("Last_Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        for name, value in {**headers, "Content_Length": len(body)}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    @property
    def key(self):
        return unquote(urlsplit(self.path).path).removeprefix("/bucket").strip("/")

    def do_GET(self):
        with self.lock:
            if not self.key:
                prefix = parse_qs(urlsplit(self.path).query).get("prefix", [""])[0]
                found = {k: v for k, v in self.objects.items() if k.startswith(prefix)}
                rows = "".join(LISTED.format(k, now(), tag(v), len(v)) for k, v in found.items())
                return self.answer(200, f"<ListBucketResult>{rows}</ListBucketResult>".encode())
            data = self.objects.get(self.key)
        if data is None:
            return self.answer(404)
        return self.answer(200, data, ETag=tag(data))

    def do_PUT(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        with self.lock:
            held = self.objects.get(self.key)
            wanted = self.headers["If-Match"]
            there = self.headers["If-None-Match"] == "*" and held is not None
            other = wanted is not None and (held is None or tag(held) != wanted)
            if self.honest and (there or other):
                return self.answer(412)
            self.objects[self.key] = data
        return self.answer(200, ETag=tag(data))

    def do_DELETE(self):
        with self.lock:
            self.objects.pop(self.key, None)
        self.answer(204)

    def do_POST(self):  # several at once
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        keys = [part.partition("</Key>")[0] for part in text.split("<Key>")[1:]]
        with self.lock:
            for key in keys:
                self.objects.pop(key, None)
        rows = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self.answer(200, f"<DeleteResult>{rows}</DeleteResult>".encode())


def now():
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}.000Z"


def tag(data):
    return f'"{md5(data, usedforsecurity=False).hexdigest()}"'


@contextmanager
def bucket(**how):
    """The URL of a new one."""
    kind = type("Own", (Bucket,), {"objects": {}, "lock": threading.Lock(), **how})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
