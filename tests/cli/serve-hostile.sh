# `taper serve` survives nonsense, half requests, slow and many clients, and requests without end.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs curl:curl python3:python3
mkdir site
"$SAMPLES" small set --count 4 >/dev/null
"$TAPER" encode -q -o site/set.taper set/png
head -c 12000000 /dev/zero >site/large.taper # not one, but served as it is
serve_start --idle 2 --clients 60 --per-address 40 --header-bytes 4096 site
cat >attack.py <<'END'
import os, random, select, socket, sys, time
port, pid = int(sys.argv[1]), sys.argv[2]
random.seed(11)

def connect():
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(8)
    return s

def answer(s):
    data = b""
    try:
        while chunk := s.recv(65536):
            data += chunk
    except (ConnectionError, socket.timeout):
        pass
    return data

def ask(bytes_, half_close=False):
    s = connect()
    try:
        s.sendall(bytes_)
        if half_close:
            s.shutdown(socket.SHUT_WR)
    except OSError: # it has closed already
        pass
    got = answer(s)
    s.close()
    return got

def alive():
    got = ask(b"GET /set.taper HTTP/1.1\r\nHost: x\r\nRange: bytes=0-3\r\nConnection: close\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 206") and got.endswith(b"\x89TPR"), got[:200]

def status(got):
    return int(got.split(b" ")[1]) if got.startswith(b"HTTP/1.") else 0

alive()
# bytes that are no request
for n in (1, 10, 1000, 100000):
    ask(os.urandom(n), half_close=True)
for line in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b" / HTTP/1.1\r\n\r\n", b"\0\0\0\0\r\n\r\n",
             b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n", b"GET * HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
             b"GET / HTTP/1.1\r\n: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: -1\r\n\r\n",
             b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
             b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
             b"GET /?bytes=%00 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /?" + b"&" * 900 + b" HTTP/1.1\r\nHost: x\r\n\r\n"):
    assert status(ask(line, half_close=True)) not in (200,) or b"?" in line or line.startswith(b"GET / "), line
alive()
# a line, a field and a list of ranges without end
assert status(ask(b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n")) in (0, 414, 431)
assert status(ask(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"b" * (1 << 20) + b"\r\n\r\n")) in (0, 413, 431)
assert status(ask(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 100000 + b"\r\n")) in (0, 413, 431)
assert status(ask(b"GET /set.taper HTTP/1.1\r\nHost: x\r\nRange: bytes=" + b"0-0," * 1000000 + b"1-1\r\n\r\n")) in (0, 413, 431)
got = ask(b"GET /set.taper HTTP/1.1\r\nHost: x\r\nConnection: close\r\nRange: bytes=" + b"0-0," * 700 + b"1-1\r\n\r\n")
assert status(got) == 416, got[:200]
alive()
# a body that nobody asked for; pipelined requests
got = ask(b"GET /set.taper HTTP/1.1\r\nHost: x\r\nRange: bytes=0-0\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n" + b"z" * 100000)
assert status(got) in (0, 206), got[:100]
one = b"GET /set.taper HTTP/1.1\r\nHost: x\r\nRange: bytes=0-3\r\n\r\n"
got = ask(one * 10 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
assert got.count(b"HTTP/1.1 206") == 11, got.count(b"HTTP/1.1 206")
# clients that go away, at every place
for path in (b"/large.taper", b"/set.taper/1.png", b"/", b"/set.taper/"):
    for after in (0, 1):
        s = connect()
        s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        if after:
            s.recv(100)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
alive()
# half a request, and one byte of it in half a second: both end after the time for a request
s = connect()
s.sendall(b"GET /set.ta")
slow = connect()
start = time.monotonic()
ended = None
for byte in b"GET /set.taper HTTP/1.1\r\n" + b"X: y\r\n" * 100:
    try:
        slow.sendall(bytes([byte]))
        slow.settimeout(0.5)
        if slow.recv(10) == b"":
            raise ConnectionError
    except socket.timeout:
        continue
    except ConnectionError:
        ended = time.monotonic() - start
        break
assert ended and 1.5 < ended < 8, ended
assert answer(s) == b""
# more clients than one address may have: the others are closed, and those that are there are answered
many = [connect() for _ in range(55)]
closed, end = 0, time.monotonic() + 1.5
while closed < 15 and time.monotonic() < end: # the server has accepted all
    closed = len(select.select(many, [], [], 0.1)[0])
good = 0
for s in many:
    try:
        s.sendall(b"GET /set.taper HTTP/1.1\r\nHost: x\r\nRange: bytes=0-0\r\nConnection: close\r\n\r\n")
        good += answer(s).startswith(b"HTTP/1.1 206")
    except ConnectionError:
        pass
    s.close()
assert good == 40, good
time.sleep(0.3)
alive()
# a file that is shortened while it is sent: the response ends early, the server lives
s = connect()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
s.sendall(b"GET /large.taper HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
s.recv(1000)
os.truncate("site/large.taper", 1000)
body = answer(s)
assert len(body) < 12000000, len(body)
alive()
open("site/large.taper", "wb").write(b"\0" * 500000)
got = ask(b"GET /large.taper HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
assert len(got.split(b"\r\n\r\n", 1)[1]) == 500000
# open files do not grow
time.sleep(2.5)
alive()
assert len(os.listdir(f"/proc/{pid}/fd")) < 40, os.listdir(f"/proc/{pid}/fd")
END
python3 attack.py "$PORT" $SERVER || { cat serve.err; exit 1; }
serve_stop
python3 -c 'import json; [json.loads(l) for l in open("log.jsonl")]'

# a line of the log that is longer than others together
serve_start --header-bytes 1048576 site
python3 - "$PORT" <<'END'
import socket, sys
for path in (b"a" * 300000, b"\xff" * 300000, b"b"):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
        s.sendall(b"GET /" + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        while s.recv(65536):
            pass
END
serve_stop
python3 -c 'import json; lines = [json.loads(l) for l in open("log.jsonl")]; assert [len(l["path"]) for l in lines[-3:]] == [300001, 300001, 2]'
