# Servers that misbehave: what they do is survived, or told with its remedy.
. "$ROOT/tests/cli_helpers.sh"
needs python3:python3
small_set 120
"$TAPER" encode --best -q -m model.tpm --layout gallery -o x.taper set/png
while [ "$(wc -c <x.taper)" -lt 100000 ]; do # larger than a first request
    "$TAPER" merge -q -f -o more.taper x.taper x.taper
    mv more.taper x.taper
done
here=$PWD
last=$("$TAPER" ls x.taper | wc -l)
python3 "$ROOT/tests/remote_server.py" x.taper port 2>server.err &
server=$!
trap 'kill $server' EXIT
await port
url=http://127.0.0.1:$(cat port)
decode() { "$TAPER" decode -q -f -m "$here/model.tpm" -i 2,40,$((last - 1)) -o "$1" "$2"; }
decode want x.taper

survived() { # way...
    for way; do
        decode "got-${way%%/*}" "$url/$way/x.taper" || { echo "not survived: $way"; exit 1; }
        diff -r want "got-${way%%/*}" || { echo "other pictures: $way"; exit 1; }
    done
}
survived plain whole ends-early shorter longer chunked moved expires slow &
first=$!
survived busy-twice drops-twice whole-later &
second=$!

told() { # way, pattern; in a folder of its own where several run
    expect 5 "taper decode: $url/$1/x.taper: $2" decode none "$url/$1/x.taper"
}
told compressed '*Content-Encoding: gzip*nginx: gzip off*'
for way in changes grows dated; do told $way 'the file on the server changed while it was read; run the command again'; done
for way in other-range no-range nonsense-range multipart; do told $way '*another range than was asked for*'; done
rc=0 # a lie that cannot be seen at first
decode none "$url/huge-length/x.taper" 2>err || rc=$?
[ $rc -eq 0 ] || [ $rc -eq 5 ] || { echo "huge-length: exit code $rc"; cat err; exit 1; }
told no-length '*does not tell the length*'
told status/404 'the server answers 404: there is no such file; check the URL'
told status/403 'the server answers 403: it refuses access*'
told status/418 'the server answers 418*'
told empty '*is empty'
told loop '*redirects more than 10 times*'
for way in to-file to-ftp nonsense; do told $way '*another protocol than http and https*'; done
expect 6 '*serves no ranges, and the file of 99999999999 bytes is above the limit*' decode none "$url/whole-endless/x.taper"
# these are tried five times, each its own process at the same time
(told busy 'the server answers 503, after several tries; try again later') &
a=$!
(mkdir b && cd b && told whole-ends-early '*try again later') &
b=$!
(mkdir c && cd c && told ends-at-once '*try again later') &
c=$!
(mkdir d && cd d && told endless-head '*try again later') &
d=$!
for job in $first $second $a $b $c $d; do wait "$job"; done
"$TAPER" decode -m model.tpm -f -o w "$url/whole/x.taper" 2>err
test "$(grep -c 'the server serves no ranges: the whole file is read' err)" -eq 1

# credentials go to the server
"$TAPER" info "http://u:pw@${url#http://}/secret/x.taper" >out 2>&1
expect 5 "taper info: $url/secret/x.taper: the server answers 401*" "$TAPER" info "http://u:no@${url#http://}/secret/x.taper"
[ ! -s server.err ] || { cat server.err; exit 1; }
nothing_left
