# `taper serve` sends files and ranges of them as RFC 9110 says, and nothing outside the given paths.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs curl:curl python3:python3
mkdir -p site/sub/deeper secret
"$SAMPLES" small set --count 12 >/dev/null
"$TAPER" encode -q -o site/set.taper set/png
cp site/set.taper "site/sub/ä b.taper"
cp site/set.taper secret/other.taper
echo '<p>page' >site/sub/deeper/index.html
printf '\0asm' >site/sub/taper.wasm
echo 'x' >site/sub/x.js
echo 'secret' >secret/key.txt
echo 'hidden' >site/.hidden.txt
echo 'no' >site/program.sh
mkfifo site/fifo.taper
ln -s ../secret site/out
ln -s ../secret/other.taper site/out.taper
ln -s set.taper site/in.taper
ln -s /etc/passwd site/passwd.txt
serve_start --max-age 7 --ranges 16 --idle 5 site
whole=site/set.taper
size=$(wc -c <$whole)

# the file, its head, its fields
curl -s "$URL/set.taper" | cmp - $whole
gets 200 /set.taper -I
test "$(field content-length /set.taper -I)" = "$size"
test "$(field content-type /set.taper)" = application/x-taper
test "$(field accept-ranges /set.taper)" = bytes
test "$(field access-control-allow-origin /set.taper)" = '*'
field access-control-expose-headers /set.taper | grep -q 'Content-Range.*ETag'
test "$(field cache-control /set.taper)" = 'public, max-age=7'
test "$(field content-type /sub/taper.wasm)" = application/wasm
field content-type /sub/x.js | grep -q '^text/javascript'
gets 204 /set.taper -X OPTIONS
field access-control-allow-headers /set.taper -X OPTIONS | grep -q 'Range, If-Range'
gets 405 /set.taper -X POST -d x
gets 405 /set.taper -X DELETE
test "$(field allow /set.taper -X PUT)" = 'GET, HEAD, OPTIONS'

# ranges: curl's and those of a program that checks the parts
dd if=$whole bs=1 skip=100 count=50 status=none >part
curl -s -r 100-149 "$URL/set.taper" | cmp - part
test "$(field content-range /set.taper -r 100-149)" = "bytes 100-149/$size"
tail -c 10 $whole >part
curl -s -r -10 "$URL/set.taper" | cmp - part
curl -s -r 0- "$URL/set.taper" | cmp - $whole
gets 416 /set.taper -r "$size-"
test "$(field content-range /set.taper -r "$size-")" = "bytes */$size"
gets 200 /set.taper -H 'Range: lines=1-2'
gets 200 /set.taper -H 'Range: bytes=9-1'
gets 206 /set.taper -r 0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,26-26,28-28,30-30
gets 416 /set.taper -r 0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16,18-18,20-20,22-22,24-24,26-26,28-28,30-30,32-32
python3 - "$URL/set.taper" $whole <<'END'
import email, random, sys, urllib.request
url, whole = sys.argv[1], open(sys.argv[2], "rb").read()
random.seed(7)
def get(ranges):
    request = urllib.request.Request(url, headers={"Range": ranges})
    with urllib.request.urlopen(request) as answer:
        return answer.status, dict(answer.headers), answer.read()
for _ in range(60):
    n = random.randint(1, 16)
    spans = []
    for _ in range(n):
        first = random.randrange(len(whole))
        spans.append((first, random.randrange(first, min(len(whole), first + random.choice([1, 90, 30000])))))
    status, fields, body = get("bytes=" + ",".join(f"{a}-{b}" for a, b in spans))
    assert status == 206 and int(fields["Content-Length"]) == len(body)
    if "Content-Range" in fields:
        parts = [(fields["Content-Range"], body)]
    else:
        message = email.message_from_bytes(b"Content-Type: " + fields["Content-Type"].encode() + b"\r\n\r\n" + body)
        parts = [(p["Content-Range"], p.get_payload(decode=True)) for p in message.get_payload()]
        # mails end lines as they like: take the bytes between the boundaries instead
        mark = b"--" + fields["Content-Type"].split("boundary=")[1].encode()
        raw = body.split(b"\r\n" + mark)[1:-1]
        parts = [(p[0], r.split(b"\r\n\r\n", 1)[1]) for p, r in zip(parts, raw)]
    covered = set()
    for text, part in parts:
        span, total = text.removeprefix("bytes ").split("/")
        a, b = map(int, span.split("-"))
        assert int(total) == len(whole) and part == whole[a:b + 1], (text, len(part))
        assert not covered & {a, b}
        covered.update(range(a, b + 1))
    assert covered == {i for a, b in spans for i in range(a, b + 1)}
END

# conditions
tag=$(field etag /set.taper)
gets 304 /set.taper -H "If-None-Match: $tag"
gets 200 /set.taper -H 'If-None-Match: "other"'
gets 412 /set.taper -H 'If-Match: "other"'
gets 206 /set.taper -r 0-9 -H "If-Range: $tag"
gets 200 /set.taper -r 0-9 -H 'If-Range: "other"'
gets 200 /set.taper -r 0-9 -H "If-Range: W/$tag"
modified=$(field last-modified /set.taper)
gets 304 /set.taper -H "If-Modified-Since: $modified"
gets 412 /set.taper -H 'If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT'

# a prefix is a container of its own
head -c 2000 $whole >part
curl -s "$URL/set.taper?bytes=2000" | cmp - part
test "$(field content-range '/set.taper?bytes=2000' -r -5)" = 'bytes 1995-1999/2000'
test "$(field etag '/set.taper?bytes=2000')" != "$tag"
gets 400 '/set.taper?bytes=-1'

# only what is given: no link, no hidden file, no other kind, no way up
for path in /out/key.txt /out/other.taper /out.taper /in.taper /passwd.txt /.hidden.txt /program.sh /fifo.taper \
    /nothing.taper /../secret/key.txt /sub/../../secret/key.txt /%2e%2e/secret/key.txt /..%2fsecret%2fkey.txt \
    /sub/%2e%2e/%2e%2e/secret/key.txt //etc/passwd /set.taper%00.jpg /%c0%ae%c0%ae/secret/key.txt \
    '/sub\..\..\secret\key.txt' /iiif/..%2Fsecret%2Fother.taper%2F1/info.json /iiif/out.taper%2F1/info.json \
    /out/other.taper/1.png /etc/passwd; do
    case $(status "$path") in 404 | 400) ;; *) echo "served: $path"; exit 1 ;; esac
done
gets 200 '/sub/%C3%A4%20b.taper'
gets 301 /sub
test "$(field location /sub)" = /sub/
curl -s "$URL/sub/deeper/" | grep -q '<p>page'
curl -s "$URL/" | grep -q 'href="set.taper/"'
curl -s "$URL/" >page
not grep -q 'hidden\|out.taper\|program' page
curl -s "$URL/sub/" | grep -q 'href="%C3%A4%20b.taper/"'
curl -s "$URL/index.json" | python3 -c 'import json, sys; d = json.load(sys.stdin); assert [e["name"] for e in d["entries"]] == ["sub", "set.taper"], d'

# a file that is replaced, removed, shortened: the next request has the new one
cp $whole new && printf x >>new && mv new site/set.taper
test "$(field content-length /set.taper -I)" = $((size + 1))
test "$(field etag /set.taper)" != "$tag"
truncate -s 10 site/set.taper
test "$(field content-length /set.taper -I)" = 10
rm site/set.taper
gets 404 /set.taper
serve_stop
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("log.jsonl")]
assert len(lines) > 80
one = [l for l in lines if l.get("range") == "bytes=100-149"][0]
assert one["status"] == 206 and one["bytes"] == 50 and one["path"] == "/set.taper" and one["complete"] is True
assert {"schema", "time", "address", "method", "ms"} <= set(one)
assert any(l["status"] == 405 and l["method"] == "DELETE" for l in lines)
END

# several paths: each under its own name; a file that is given may be a link
cp secret/other.taper site/set.taper
ln -s secret/other.taper linked.taper
serve_start site linked.taper
gets 200 /site/set.taper
gets 200 /linked.taper
gets 404 /set.taper
gets 404 /key.txt
curl -s "$URL/" | grep -q 'href="site/"'
serve_stop
expect 2 '*same last name*' "$TAPER" serve site ./site/
expect 5 '*cannot open*' "$TAPER" serve nothing.taper
expect 2 '*is no address*' "$TAPER" serve --listen here site
expect 2 '*give a container*' "$TAPER" serve
