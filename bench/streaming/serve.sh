#!/bin/sh
# serve.sh -- what `taper serve` costs against nginx, and with 1,000 slow clients, as JSON lines.
#
#   sh bench/streaming/serve.sh TAPER [ROUNDS]
#
# Ranges of 4 KiB by wrk, on 16 connections: CPU time of the server and requests a second; medians of rounds, in which the
# servers take turns. Both write a line of JSON for each request, through a buffer of 32 KiB. nginx has one worker and keeps
# files open. Then one fast client, alone and beside 1,000 that each read 1 KiB a second of a file of 64 MB: in each round they
# connect anew, and the fast client is measured before, beside and after. `cpu` beside them is without what they take alone.
# The server runs on the first processor, wrk and the slow clients on the second.
set -eu
taper=$(realpath "$1") rounds=${2:-7}
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
commit=$(git -C "$ROOT" rev-parse --short=8 HEAD)
work=$(mktemp -d)
cd "$work"
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light wrk:wrk python3:python3 taskset:util-linux
[ "$(nproc)" -gt 1 ] || { echo "SKIP one processor: the client would take the server's time"; exit 0; }
ulimit -n 8192
mkdir www
head -c 2004096 /dev/urandom >www/set.taper
head -c 64000000 /dev/urandom >www/large.taper
cat >ranges.lua <<'END'
request = function()
    local first = math.random(0, 2000000)
    return wrk.format("GET", "/set.taper", {["Range"] = "bytes=" .. first .. "-" .. (first + 4095)})
end
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nginx.conf <<END
daemon off; worker_processes 1; pid $work/pid; error_log $work/error.log;
events { worker_connections 4096; }
http {
    log_format json escape=json '{"time":"\$time_iso8601","address":"\$remote_addr","method":"\$request_method","path":"\$request_uri",'
        '"range":"\$http_range","status":\$status,"bytes":\$body_bytes_sent,"ms":\$request_time}';
    access_log $work/nginx.log json buffer=32k flush=1s;
    sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100 inactive=60s;
    client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
    server { listen 127.0.0.1:$port; root $work/www; }
}
END
chmod 711 "$work"
taskset -c 0 nginx -c "$work/nginx.conf" 2>nginx.err &
nginx=$!
taskset -c 0 "$taper" serve --listen 127.0.0.1:0 --log taper.log --per-address 0 --clients 1100 www 2>serve.err &
server=$!
trap 'kill $nginx $server; wait; rm -r "$work"' EXIT
sleep 1
worker=$(cat /proc/$nginx/task/$nginx/children | tr -d ' ')
url=$(sed -n 's|^taper serve: \(http://.*\)/$|\1|p' serve.err)
[ -n "$url" ] && [ -n "$worker" ] || { cat serve.err nginx.err; exit 1; }
cat >measure.py <<'END'
import glob, json, os, re, resource, select, socket, statistics, subprocess, sys, time

rounds, commit = int(sys.argv[1]), sys.argv[2]
servers = {"taper serve": (sys.argv[3], int(sys.argv[4])), "nginx": (sys.argv[5], int(sys.argv[6]))}
SLOW, RATE, SETTLE = 1000, 1024, 2
os.sched_setaffinity(0, {1})
machine = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())[1] + f", {os.cpu_count()} processors"


def cpu(pid):  # seconds of all threads
    return sum(int(open(name).read().split()[0]) for name in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e9


def wrk(server, connections, seconds):
    url, pid = servers[server]
    begin = cpu(pid)
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", "ranges.lua", url + "/set.taper"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "Non-2xx" not in said and "Socket errors" not in said, said
    requests, took = re.search(r"(\d+) requests in ([\d.]+)s", said).groups()
    return {"requests": int(requests), "seconds": float(took), "cpu": cpu(pid) - begin}


def say(metric, values, unit, **config):
    print(json.dumps({"bench": "serve", "metric": metric, "value": round(statistics.median(values), 3), "unit": unit,
                      "config": {**config, "rounds": len(values), "least": round(min(values), 3), "most": round(max(values), 3)},
                      "machine": machine, "commit": commit}), flush=True)


def rate(one):
    return one["requests"] / one["seconds"]


def cost(one, others=0.0):  # microseconds a request; others: what others take in a second
    return (one["cpu"] - others * one["seconds"]) / one["requests"] * 1e6


def tcp_memory():  # bytes that the system holds for TCP, of both ends
    return int(re.search(r"TCP:.* mem (\d+)", open("/proc/net/sockstat").read())[1]) * os.sysconf("SC_PAGE_SIZE")


def resident(pid):
    return int(re.search(r"VmRSS:\s*(\d+)", open(f"/proc/{pid}/status").read())[1]) * 1024


class slow_clients:
    """A process of its own, so that its work is not between ours."""

    def __init__(self, server):
        self.child = subprocess.Popen([sys.executable, "slow.py", servers[server][0].rsplit(":", 1)[1], str(SLOW), str(RATE)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline().split() == ["ready", str(SLOW)]

    def close(self):
        self.child.communicate()
        assert self.child.returncode == 0


def many_requests():
    got = {server: [] for server in servers}
    for i in range(rounds):
        for server in list(servers)[:: 1 if i % 2 else -1]:
            got[server].append(wrk(server, 16, 3))
    for server, runs in got.items():
        say("cpu", [cost(one) for one in runs], "us a request", server=server, connections=16)
        say("rate", [rate(one) for one in runs], "requests a second", server=server, connections=16)
    pairs = list(zip(got["taper serve"], got["nginx"]))
    say("cpu_over_nginx", [cost(a) / cost(b) for a, b in pairs], "ratio", connections=16)
    say("rate_over_nginx", [rate(a) / rate(b) for a, b in pairs], "ratio", connections=16)


def beside_slow(server):
    pid, got = servers[server][1], {}
    for _ in range(rounds):
        before, memory, begin = wrk(server, 1, 2), tcp_memory(), cpu(pid)
        slow = slow_clients(server)
        time.sleep(SETTLE)
        start, connected = time.monotonic(), cpu(pid)
        time.sleep(1)
        others = (cpu(pid) - connected) / (time.monotonic() - start)
        beside = wrk(server, 1, 2)
        held, rss = tcp_memory() - memory, resident(pid)
        slow.close()
        time.sleep(SETTLE)
        after = wrk(server, 1, 2)
        alone = {key: before[key] + after[key] for key in before}
        for metric, unit, value in (
                ("slow_rss", "bytes", rss), ("slow_tcp_memory", "bytes", held), ("slow_connect_cpu", "s", connected - begin),
                ("slow_cpu_alone", "s a second", others), ("fast_rate_alone", "requests a second", rate(alone)),
                ("fast_rate_beside", "requests a second", rate(beside)),
                ("fast_rate_lost", "%", 100 * (1 - rate(beside) / rate(alone))),
                ("fast_rate_lost_of_none", "%", 100 * (1 - rate(after) / rate(before))),
                ("fast_cpu_alone", "us a request", cost(alone)), ("fast_cpu_beside", "us a request", cost(beside, others)),
                ("fast_cpu_more", "%", 100 * (cost(beside, others) / cost(alone) - 1))):
            got.setdefault((metric, unit), []).append(value)
    for (metric, unit), values in got.items():
        say(metric, values, unit, server=server, slow_clients=SLOW, bytes_a_second=RATE)


many_requests()
for server in servers:
    beside_slow(server)
END
cat >slow.py <<'END'
import select, socket, sys

port, n, rate = (int(word) for word in sys.argv[1:])
sockets, good = [], 0
for _ in range(n):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", port))
    s.sendall(b"GET /large.taper HTTP/1.1\r\nHost: x\r\n\r\n")
    sockets.append(s)
for s in sockets:
    good += b" 200 " in s.recv(64)
    s.setblocking(False)
print("ready", good, flush=True)
turn = 0
while not select.select([sys.stdin], [], [], 0.1)[0]:  # a tenth of them at a time
    for s in sockets[turn::10]:
        try:
            s.recv(rate)
        except BlockingIOError:
            pass
    turn = (turn + 1) % 10
END
python3 measure.py "$rounds" "$commit" "$url" $server "http://127.0.0.1:$port" "$worker"
