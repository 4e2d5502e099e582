"""sockets.py -- a broadcast over TCP: a server of files, and receivers whose lines are token buckets.

A receiver asks for one file and reads it at the rate of its line: after t seconds it has read at most rate * t bytes of
the body. When the time of the picture is over it closes the connection. What its line would have carried by then is
read to the byte even if this machine woke it late; such bytes are counted as late.
"""
import http.server
import os
import socket
import threading
import time

TICK = 0.005       # seconds between two looks at the bucket
PATIENCE = 5.0     # seconds after the time is over in which late bytes are waited for
ROOM = 16 * 1024   # bytes that the kernel may hold for a receiver


class Files(http.server.SimpleHTTPRequestHandler):
    """Files of a folder over HTTP/1.0, without words."""

    def log_message(self, *_):
        pass

    def copyfile(self, source, outputfile):
        try:
            super().copyfile(source, outputfile)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the receiver's time is over


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


def serve(folder):
    """Start a server of this folder on a free port of loopback. Returns it; shutdown() ends it."""
    def handler(*args):
        return Files(*args, directory=os.path.abspath(folder))
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Line:
    """A receiver's line: bytes a second."""

    def __init__(self, address, rate):
        self.address, self.rate, self.late = address, rate, 0

    def receive(self, path, seconds):
        """The bytes of a file that come in that time."""
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
            s.settimeout(PATIENCE + seconds)
            s.connect(self.address)
            s.sendall(b"GET %s HTTP/1.0\r\n\r\n" % path.encode())
            body = self._after_header(s, path)
            return self._paced(s, body, seconds)

    @staticmethod
    def _after_header(s, path):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = s.recv(1)
            if not byte:
                raise OSError("%s: the server closed the connection in its header" % path)
            head += byte
        if head.split()[1] != b"200":
            raise OSError("%s: the server answers %s" % (path, head.split(b"\r\n")[0].decode()))
        return bytearray()

    def _paced(self, s, body, seconds):
        start = time.monotonic()
        budget = int(self.rate * seconds)
        while len(body) < budget:
            now = time.monotonic() - start
            allowed = min(int(self.rate * now), budget) - len(body)
            if allowed <= 0:
                time.sleep(TICK)
                continue
            if now > seconds + PATIENCE:
                break
            piece = s.recv(allowed)
            if not piece:
                break
            if time.monotonic() - start > seconds + 2 * TICK:
                self.late += len(piece)
            body += piece
        return bytes(body)


def broadcast(address, rates, wanted, seconds, keep):
    """Every receiver in a thread of its own gets its files, one after the other: wanted(receiver) lists paths, None for
    none. keep(receiver, number, bytes) gets what came. Returns the bytes that were late, and all bytes."""
    lines = [Line(address, rate) for rate in rates]
    sums, failures = [0] * len(rates), []

    def run(k):
        try:
            for number, path in enumerate(wanted(k)):
                body = lines[k].receive(path, seconds) if path else b""
                sums[k] += len(body)
                keep(k, number, body)
        except OSError as failure:
            failures.append(failure)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(rates))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return sum(line.late for line in lines), sum(sums)
