# SIGTERM lets `taper serve` finish the transfers that run, and accepts no others; a second signal ends it at once. The kernel
# holds little for clients that do not read. The systemd unit is valid.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs python3:python3
mkdir site
python3 -c 'import random; random.seed(1); open("site/large.taper", "wb").write(random.randbytes(12 << 20))'
cat >ending.py <<'END'
import hashlib, os, signal, socket, sys, time
port, pid, signals = (int(word) for word in sys.argv[1:])


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def ask(s):
    s.sendall(b"GET /large.taper HTTP/1.1\r\nHost: x\r\n\r\n")
    got = b""
    while b"\r\n\r\n" not in got:
        got += s.recv(200)
    return got


idle = connect()  # a connection without a request holds nothing up
idle.sendall(b"GET /none.taper HTTP/1.1\r\nHost: x\r\n\r\n")
assert idle.recv(2000).startswith(b"HTTP/1.1 404")
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
s.settimeout(20)
s.connect(("127.0.0.1", port))
got = ask(s)
assert got.startswith(b"HTTP/1.1 200"), got
time.sleep(0.3)
for _ in range(signals):
    os.kill(pid, signal.SIGTERM)
    time.sleep(0.5)
try:
    late = connect()
    late.sendall(b"GET /large.taper HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not late.recv(100), "a connection after SIGTERM is answered"
except ConnectionError:
    pass
pieces = [got]
size = len(got) - got.index(b"\r\n\r\n") - 4
try:
    while size < 12 << 20 and (piece := s.recv(1 << 20)):
        pieces.append(piece)
        size += len(piece)
except ConnectionError:
    pass
body = b"".join(pieces).split(b"\r\n\r\n", 1)[1]
whole = open("site/large.taper", "rb").read()
if signals == 1:
    assert body == whole, f"{len(body)} of {len(whole)} bytes"
else:  # what is left in the kernel, at most
    assert whole.startswith(body) and len(body) < 2 << 20, len(body)
END
serve_start site
python3 ending.py "$PORT" $SERVER 1 || { cat serve.err; exit 1; }
code=0
wait $SERVER || code=$?
[ $code -eq 0 ] || { echo "ended with $code after SIGTERM"; exit 1; }
grep '"path":"/large.taper","status":200,"bytes":12582912' log.jsonl | grep -q '"complete":true'

serve_start site
python3 ending.py "$PORT" $SERVER 2 || { cat serve.err; exit 1; }
code=0
wait $SERVER || code=$?
trap - EXIT
[ $code -eq 143 ] || { echo "ended with $code after the second SIGTERM"; exit 1; }

# the unit, with the program where it says
command -v systemd-analyze >/dev/null || { echo "SKIP the unit is not verified: no systemd-analyze"; exit 0; }
mkdir -p prefix/bin
ln -s "$(realpath "$TAPER")" prefix/bin/taper
sed "s|@PREFIX@|$PWD/prefix|" "$ROOT/packaging/taper-serve.service.in" >taper-serve.service
systemd-analyze verify --man=no ./taper-serve.service >unit.said 2>&1 || { cat unit.said; exit 1; }
if grep 'taper-serve' unit.said; then exit 1; fi
