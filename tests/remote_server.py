#!/usr/bin/env python3
"""remote_server.py -- a server that misbehaves, for tests/cli/remote-*.sh.

    remote_server.py FILE PORT_FILE     serves FILE on 127.0.0.1; writes the port to PORT_FILE

The path says how: /plain/x.taper serves ranges as it should. Counts are of each path since the server began.
GET /count/PATH tells how many requests a path had.
"""
import hashlib
import os
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

with open(sys.argv[1], "rb") as _file:
    BYTES = _file.read()
OTHER = bytes(b ^ 1 for b in BYTES)
counts = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def count(self):
        with lock:
            counts[self.path] = counts.get(self.path, 0) + 1
            return counts[self.path]

    def range(self, size):
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not found:
            return None
        first, last = int(found[1]), min(int(found[2]), size - 1)
        return (first, last) if first <= last else (first, first - 1)

    def head(self, status, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, str(value))
        self.end_headers()

    def plain(self, data=BYTES, **more):
        """A range as it should be; `more` replaces fields of the head (_ for -)."""
        first, last = self.range(len(data)) or (0, len(data) - 1)
        if last < first:
            return self.refuse(416, {"Content-Range": f"bytes */{len(data)}"})
        fields = {"Content-Range": f"bytes {first}-{last}/{len(data)}", "Content-Length": last - first + 1,
                  "ETag": '"%s"' % hashlib.md5(data).hexdigest()}
        fields.update({k.replace("_", "-"): v for k, v in more.items()})
        self.head(206, {k: v for k, v in fields.items() if v is not None})
        self.wfile.write(data[first:last + 1])

    def refuse(self, status, fields=None):
        self.head(status, {"Content-Length": 5, **(fields or {})})
        self.wfile.write(b"sorry")

    def whole(self, status=200, data=BYTES, **more):
        self.head(status, {"Content-Length": len(data), **more})
        self.wfile.write(data)

    def raw(self, text):
        self.wfile.write(text)
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self):
        how = self.path.split("/")[1]
        if how == "count":
            return self.whole(data=str(counts.get(self.path[6:], 0)).encode())
        n = self.count()
        first, last = self.range(len(BYTES)) or (0, len(BYTES) - 1)
        part = BYTES[first:last + 1]
        told = f"HTTP/1.1 206 x\r\nContent-Range: bytes {first}-{last}/{len(BYTES)}\r\n".encode()
        if how == "plain":
            self.plain()
        elif how == "whole":
            self.whole()
        elif how == "whole-ends-early":
            self.raw(b"HTTP/1.1 200 x\r\nContent-Length: %d\r\n\r\n" % len(BYTES) + BYTES[:1000])
        elif how == "whole-endless":
            self.raw(b"HTTP/1.1 200 x\r\nContent-Length: 99999999999\r\n\r\n" + BYTES)
        elif how == "whole-later":  # some answers only
            self.plain() if n % 2 else self.whole()
        elif how == "compressed":
            self.plain(Content_Encoding="gzip")
        elif how == "changes":
            self.plain() if n < 2 else self.plain(OTHER)
        elif how == "grows":
            self.plain() if n < 2 else self.plain(BYTES + b"more", ETag=None)
        elif how == "dated":
            self.plain(ETag=None, Last_Modified="Thu, 01 Jan 1970 00:00:0%d GMT" % min(n, 2))
        elif how == "ends-early":  # half of what it told
            self.raw(told + b"Content-Length: %d\r\n\r\n" % len(part) + part[:len(part) // 2 + 1])
        elif how == "ends-at-once":
            self.raw(told + b"Content-Length: %d\r\n\r\n" % len(part))
        elif how == "shorter":  # legal: a part of the range
            last = first + (last - first) // 2
            self.plain(Content_Range=f"bytes {first}-{last}/{len(BYTES)}") if last < first else self.part(first, last)
        elif how == "longer":  # more than it told
            self.raw(told + b"\r\n" + part + b"y" * 100000)
        elif how == "chunked":
            self.raw(told + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(part) + part + b"\r\n0\r\n\r\n")
        elif how == "other-range":
            self.plain(Content_Range=f"bytes {first + 1}-{last + 1}/{len(BYTES) + 1}")
        elif how == "no-length":
            self.plain(Content_Range=f"bytes {first}-{last}/*")
        elif how == "huge-length":
            self.plain(Content_Range=f"bytes {first}-{last}/9223372036854775807")
        elif how == "no-range":
            self.plain(Content_Range=None)
        elif how == "nonsense-range":
            self.plain(Content_Range="bytes 99999999999999999999-5/-1")
        elif how == "multipart":
            self.plain(Content_Type="multipart/byteranges; boundary=x")
        elif how == "busy":
            self.refuse(503)
        elif how == "busy-twice":
            self.refuse(503) if n <= 2 else self.plain()
        elif how == "drops-twice":
            self.raw(b"") if n <= 2 else self.plain()
        elif how == "status":
            self.refuse(int(self.path.split("/")[2]))
        elif how == "empty":
            self.refuse(416, {"Content-Range": "bytes */0"})
        elif how == "loop":
            self.refuse(302, {"Location": "/loop/%d" % n})
        elif how == "moved":
            self.refuse(302, {"Location": "/plain/moved.taper"})
        elif how == "expires":  # the place of a redirect holds for some requests
            self.refuse(302, {"Location": "/expired/%d" % n})
        elif how == "expired":
            self.plain() if n < 2 else self.refuse(403)
        elif how == "to-file":
            self.refuse(302, {"Location": "file:///etc/passwd"})
        elif how == "to-ftp":
            self.refuse(302, {"Location": "ftp://127.0.0.1:1/x"})
        elif how == "nonsense":
            self.raw(os.urandom(1000).replace(b"HTTP", b"XXXX"))
        elif how == "half-a-head":
            self.raw(told)
        elif how == "endless-head":
            self.raw(told + b"X: y\r\n" * 300000)
        elif how == "slow":
            time.sleep(0.2)
            self.plain()
        elif how == "secret":
            wants = "Basic dTpwdw=="  # u:pw
            self.plain() if self.headers.get("Authorization") == wants else self.refuse(401)
        else:
            self.refuse(404)

    def part(self, first, last):
        self.head(206, {"Content-Range": f"bytes {first}-{last}/{len(BYTES)}", "Content-Length": last - first + 1})
        self.wfile.write(BYTES[first:last + 1])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # a client that hangs up is no error


server = Server(("127.0.0.1", 0), Handler)
with open(sys.argv[2] + ".new", "w") as to:
    to.write(str(server.server_address[1]))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
