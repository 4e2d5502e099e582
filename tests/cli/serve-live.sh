# `taper serve --live` waits for the bytes of a container that grows.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs curl:curl python3:python3
mkdir site
"$SAMPLES" small set --count 40 >/dev/null
"$TAPER" encode -q --best -o whole.taper set/png
size=$(wc -c <whole.taper)
front=$("$TAPER" info --json whole.taper | head -n 1 | json_number front_bytes)
[ -n "$front" ] || front=4000
serve_start --live --idle 6 site

# it comes in pieces; a request that came early gets all of it, and so do ranges behind the end
head -c 30 whole.taper >site/set.taper
gets 503 /set.taper
test "$(field retry-after /set.taper)" = 1
begin=$((front + 500))
head -c $begin whole.taper | tail -c +31 >>site/set.taper
curl -s -o all "$URL/set.taper" &
all=$!
curl -s -r $((size - 100))- -o last "$URL/set.taper" &
last=$!
gets 206 /set.taper -r 0-99
test "$(field content-range /set.taper -r 0-99)" = "bytes 0-99/$size"
test -z "$(field etag /set.taper -I)"
test "$(field cache-control /set.taper -I)" = no-store
test "$(field content-length /set.taper -I)" = "$size"
test "$(field content-length '/set.taper?bytes=100' -I)" = 100
curl -sf -o one.png "$URL/set.taper/1.png"
for part in 1 2 3; do
    sleep 0.4
    head -c $((begin + part * (size - begin) / 3)) whole.taper | tail -c +$((begin + (part - 1) * (size - begin) / 3 + 1)) >>site/set.taper
done
wait $all
wait $last
cmp all whole.taper
tail -c 100 whole.taper | cmp - last
cmp site/set.taper whole.taper
test -n "$(field etag /set.taper)"
test "$(field content-length /set.taper -I)" = "$size"
# the pictures follow
curl -sf -o two.png "$URL/set.taper/1.png"
not cmp -s one.png two.png

# what does not grow ends within the idle time, short of its length
head -c $begin whole.taper >site/stuck.taper
code=0
curl -s -o short "$URL/stuck.taper" || code=$?
[ $code -eq 18 ] || [ $code -eq 56 ] || [ $code -eq 52 ] || { echo "curl ended with $code"; exit 1; }
head -c $begin whole.taper | cmp - short
# its length is known also when its file was closed for others
touch $(seq -f 'site/%g.txt' 140)
curl -s "$URL/[1-140].txt"
test "$(field content-length /stuck.taper -I)" = "$size"
# SIGTERM does not wait for it
curl -s -o short "$URL/stuck.taper" &
sleep 0.3
serve_stop
wait
# without --live it is a cut container
serve_start site
test "$(field content-length /stuck.taper -I)" = "$begin"
serve_stop
