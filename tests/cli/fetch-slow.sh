# fetch on a slow line: --time ends in time, a signal keeps what came, and the rest follows.
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light
small_set 120
mkdir www
"$TAPER" encode --best -q -m model.tpm --group 20 -o www/x.taper set/png
while [ "$(wc -c <www/x.taper)" -lt 700000 ]; do
    "$TAPER" merge -q -f -o more.taper www/x.taper www/x.taper
    mv more.taper www/x.taper
done
cp www/x.taper x.copy
serve_www 'limit_rate 40k;'
all=$(wc -c <x.copy)
begins() { # file
    n=$(wc -c <"$1")
    [ "$n" -gt 0 ] && [ "$n" -lt "$all" ] || { echo "$n bytes of $all in $1"; exit 1; }
    head -c "$n" x.copy | cmp - "$1"
}

start=$(date +%s)
"$TAPER" fetch -q --time 2 -o time.taper $url/x.taper
test $(($(date +%s) - start)) -le 6
begins time.taper
"$TAPER" decode -q -m model.tpm -i 5 -o a time.taper

"$TAPER" fetch -q -o stopped.taper $url/x.taper &
fetching=$!
await stopped.taper
sleep 1
kill -TERM $fetching # a shell lets its jobs ignore SIGINT
wait $fetching && exit 1
begins stopped.taper
"$TAPER" verify stopped.taper >/dev/null

# the server comes back with more speed
kill "$(cat nginx/pid)"
serve_www
"$TAPER" fetch -q -o stopped.taper $url/x.taper
cmp stopped.taper x.copy

# another file under the same name: the beginning is not continued with it
head -c 50000 x.copy >begun.taper
"$TAPER" rename -q -o www/x.taper -f x.copy 1 other.png 2>/dev/null || "$TAPER" truncate -q --quick -f --fraction 0.9 -o www/x.taper x.copy
expect 5 '*no beginning of the file behind the URL*' "$TAPER" fetch -o begun.taper $url/x.taper
head -c 50000 x.copy | cmp - begun.taper
nothing_left
