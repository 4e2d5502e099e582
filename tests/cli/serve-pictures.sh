# `taper serve` makes pictures with the pixels of `decode`, at any size and rate, and speaks IIIF.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs curl:curl python3:python3
mkdir -p in/cat site
"$SAMPLES" photos photos --count 2 --size 300x200 >/dev/null 2>&1 || "$SAMPLES" small photos --count 6 >/dev/null
n=0
for file in $(find photos -name '*.png' | sort | head -n 3); do
    n=$((n + 1))
    cp "$file" "in/cat/p $n.png"
done
"$TAPER" encode -q --best -o site/set.taper in
"$TAPER" decode -q -o whole site/set.taper
head -c $(($(wc -c <site/set.taper) / 2)) site/set.taper >site/half.taper
"$TAPER" decode -q -o half site/half.taper
serve_start site
name=cat/p%201
mkdir a b

# equal to decode, whole and from a prefix, by name and number
curl -sf -o a/image.png "$URL/set.taper/$name.png"
cp "whole/cat/p 1.png" b/image.png
python3 "$ROOT/tests/same_pixels.py" a b
for other in 1.png cat/p%201.png.png "$name.png?v=2"; do
    curl -sf -o again.png "$URL/set.taper/$other"
    cmp again.png a/image.png
done
curl -sf -o a/image.png "$URL/set.taper/1.png?bytes=$(wc -c <site/half.taper)"
cp "half/cat/p 1.png" b/image.png
python3 "$ROOT/tests/same_pixels.py" a b
curl -sf -o a/image.png "$URL/half.taper/1.png"
python3 "$ROOT/tests/same_pixels.py" a b
gets 400 "/set.taper/1.png?bytes=20"

# a single pixel has its size at any reduction, and is whole
mkdir pixel
printf 'P6 1 1 255\n\310\036\132' >pixel/one.ppm
"$TAPER" encode -q --lossless -o site/pixel.taper pixel
curl -sf -o a/image.png "$URL/pixel.taper/1.png"
"$TAPER" decode -q -f -o b/image.png site/pixel.taper
python3 "$ROOT/tests/same_pixels.py" a b

# sizes: PNG tells its own
size_of() { # path
    curl -sf "$URL$1" | python3 -c 'import struct, sys; d = sys.stdin.buffer.read(); assert d[:8] == b"\x89PNG\r\n\x1a\n"; print("%dx%d" % struct.unpack(">II", d[16:24]))'
}
whole=$(size_of /set.taper/1.png)
width=${whole%x*} height=${whole#*x}
test "$(size_of '/set.taper/1.png?width=7')" = "7x$(((7 * height + width / 2) / width))"
test "$(size_of '/set.taper/1.png?scale=1/2')" = "$(((width + 1) / 2))x$(((height + 1) / 2))"
test "$(size_of '/set.taper/1.png?width=9999')" = "$whole"
gets 400 '/set.taper/1.png?width=0'
gets 400 '/set.taper/1.png?scale=1/3'
gets 404 /set.taper/none.png
gets 404 /set.taper/0.png
gets 404 /set.taper/99.png
gets 404 /set.taper/1.gif
test "$(field content-type "/set.taper/$name.jpg")" = image/jpeg
curl -sf "$URL/set.taper/1.jpg?quality=30" >small.jpg
curl -sf "$URL/set.taper/1.jpg?quality=95" >large.jpg
test "$(wc -c <small.jpg)" -lt "$(wc -c <large.jpg)"

# readers that have it get 304, at once
tag=$(field etag /set.taper/1.jpg)
gets 304 /set.taper/1.jpg -H "If-None-Match: $tag"
test "$(field etag '/set.taper/1.jpg?width=5')" != "$tag"
gets 200 /set.taper/1.jpg -I

# lists
curl -sf "$URL/set.taper/" | grep -q 'cat/p 2.png'
curl -sf "$URL/set.taper/index.json?from=2" | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["images"] == 3 and [i["number"] for i in d["list"]] == [2, 3], d
assert d["list"][0]["name"] == "cat/p 2.png" and d["list"][0]["picture"] == "/set.taper/2.jpg"'
gets 404 '/set.taper/?from=9'

# IIIF Image API 3.0
id=/iiif/set.taper%2F$(echo $name | sed 's|/|%2F|')
gets 303 "$id"
test "$(field location "$id")" = "$URL$id/info.json"
curl -sf "$URL$id/info.json" | python3 -c '
import json, sys
d = json.load(sys.stdin)
url, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
assert d["id"] == url and d["type"] == "ImageService3" and d["profile"] == "level1", d
assert d["@context"] == "http://iiif.io/api/image/3/context.json" and d["protocol"] == "http://iiif.io/api/image"
assert (d["width"], d["height"]) == (width, height)
assert {"width": width, "height": height} in d["sizes"] and d["tiles"][0]["scaleFactors"][0] == 1' "$URL$id" "$width" "$height"
field content-type "$id/info.json" | grep -q 'application/ld+json;profile="http://iiif.io/api/image/3/context.json"'
test "$(field content-type "$id/info.json" -H 'Accept: application/json')" = application/json
field link "$id/info.json" | grep -q 'http://iiif.io/api/image/3/level1.json>;rel="profile"'
field link "$id/0,0,$width,$height/4,/0/default.jpg" | grep -q "<$URL$id/full/4,[0-9]*/0/default.jpg>;rel=\"canonical\""
curl -sf -o a/image.png "$URL$id/full/max/0/default.png"
cp "whole/cat/p 1.png" b/image.png
python3 "$ROOT/tests/same_pixels.py" a b
test "$(size_of "$id/1,2,8,6/4,3/0/default.png")" = 4x3
test "$(size_of "$id/square/max/0/color.png")" = "${height}x$height" || test "$width" -lt "$height"
test "$(size_of "$id/pct:50,50,50,50/max/0/default.png")" = "$(((width + 1) / 2))x$(((height + 1) / 2))"
test "$(size_of "$id/$((width - 3)),0,9,2/max/0/default.png")" = 3x2
for wrong in full/max/0/default.xyz full/max/400/default.jpg full/0,/0/default.jpg "$width,0,5,5/max/0/default.jpg" \
    "full/$((width + 1)),/0/default.jpg" full/max/0 1,2,3/max/0/default.jpg; do gets 400 "$id/$wrong"; done
for other in full/max/90/default.jpg full/max/0/gray.jpg full/^max/0/default.jpg full/max/0/default.tif full/max/!0/default.jpg
do gets 501 "$id/$other"; done
gets 404 /iiif/set.taper%2Fnone/info.json
gets 404 /iiif/none.taper%2F1/info.json
gets 404 /iiif/set.taper/info.json
test "$(field access-control-allow-origin "$id/info.json")" = '*'
# the host of a request gets into no answer that it could spoil
curl -s -H 'Host: x"><script>' "$URL$id/info.json" | grep -q '"id":"http://localhost/iiif/'
serve_stop

# a region has the pixels of the whole
"$TAPER" decode -q -o one.ppm --format pnm -i 1 site/set.taper 2>/dev/null || "$TAPER" decode -q -o one.ppm -i 1 site/set.taper
serve_start --base-url https://images.example.org/x --threads 1 --queue 1 site
curl -sf -o region.png "$URL$id/1,2,8,6/max/0/default.png"
curl -sf "$URL$id/info.json" | grep -q '"id":"https://images.example.org/x/iiif/set.taper%2F'
"$TAPER" encode -q --lossless -o region.taper region.png
"$TAPER" decode -q -o region.ppm region.taper
python3 - <<'END'
def ppm(path):
    kind, size, most, rest = open(path, "rb").read().split(b"\n", 3)
    w, h = map(int, size.split())
    step = 3 if kind == b"P6" else 1
    return w, h, step, rest
w, h, step, whole = ppm("one.ppm")
rw, rh, rstep, region = ppm("region.ppm")
assert (rw, rh, rstep) == (8, 6, step)
for y in range(6):
    at = ((y + 2) * w + 1) * step
    assert whole[at:at + 8 * step] == region[y * 8 * step:(y + 1) * 8 * step], y
END

# damaged data, no container, a queue that is full
cp site/set.taper site/bad.taper
printf 'xxxxxxxxxxxxxxxxxxxxxxxx' | dd of=site/bad.taper bs=1 seek=$(($(wc -c <site/bad.taper) / 2)) conv=notrunc status=none
echo 'no container' >site/no.taper
head -c 20 site/set.taper >site/short.taper
case $(status /bad.taper/1.png) in 200 | 500) ;; *) echo "a damaged container"; exit 1 ;; esac
gets 500 /no.taper/1.png
gets 503 /short.taper/1.png
test "$(field retry-after /short.taper/1.png)" = 1
python3 - "$PORT" <<'END'
import socket, sys
port = int(sys.argv[1])
open_ones = []
for i in range(20):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"GET /set.taper/1.png?quality=%d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % (i + 1))
    open_ones.append(s)
heads = []
for s in open_ones:
    data = b""
    while chunk := s.recv(65536):
        data += chunk
    heads.append(data.split(b"\r\n\r\n")[0])
statuses = [h.split()[1] for h in heads]
assert set(statuses) <= {b"200", b"503"} and statuses[0] == b"200", statuses
assert all(b"Retry-After: 1" in h for h in heads if h.split()[1] == b"503")
END
serve_stop
