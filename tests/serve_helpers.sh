# serve_helpers.sh -- read by the tests of `taper serve` with `. "$ROOT/tests/serve_helpers.sh"`.

# Start a server on a free port: $URL without a slash at its end, $PORT, $SERVER its process; its log is log.jsonl. It is
# ended with the test. SKIP where libmicrohttpd is missing.
serve_start() { # options and paths...
    : >serve.err
    "$TAPER" serve --listen 127.0.0.1:0 --log log.jsonl "$@" 2>serve.err &
    SERVER=$!
    trap 'kill -KILL $SERVER 2>/dev/null || :' EXIT
    for _ in $(seq 200); do
        URL=$(sed -n 's|^taper serve: \(http://.*\)/$|\1|p' serve.err)
        [ -z "$URL" ] || break
        kill -0 $SERVER 2>/dev/null || break
        sleep 0.05
    done
    if grep -q 'microhttpd' serve.err; then echo "SKIP $(cat serve.err)"; exit 0; fi
    [ -n "$URL" ] || { echo "the server does not start"; cat serve.err; exit 1; }
    PORT=${URL##*:}
}

# End it by SIGTERM; it must end with exit code 0.
serve_stop() {
    kill -TERM $SERVER
    code=0
    wait $SERVER || code=$?
    trap - EXIT
    [ $code -eq 0 ] || { echo "the server ended with $code"; cat serve.err; exit 1; }
}

# The status of a request: `status PATH CURL-OPTIONS...`.
status() { # path, options of curl...
    path=$1
    shift
    curl -s --path-as-is -o /dev/null -w '%{http_code}' "$@" "$URL$path"
}

# A request must get this status.
gets() { # status, path, options of curl...
    want=$1
    shift
    got=$(status "$@")
    [ "$got" = "$want" ] || { echo "status $got instead of $want: $*"; exit 1; }
}

# A field of the response: `field NAME PATH OPTIONS...`.
field() { # name, path, options of curl...
    name=$1 path=$2
    shift 2
    curl -s --path-as-is -o /dev/null -D - "$@" "$URL$path" | tr -d '\r' | sed -n "s/^$name: //Ip"
}
