# `embed --map`: a page that needs nothing but itself, with each image's place, label, picture and neighbours, right
# for names that are HTML or end a script.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
mkdir named
for class in set/png/*; do cp -r "$class" "named/${class##*/}"; done
mv named/bolt 'named/a <b> & "c"'
"$TAPER" train-labels -q -o codes.tpm --objective nca --start pca -k 5 -e 2 named
"$TAPER" embed -q -m codes.tpm --map map.html -o codes.csv named
"$TAPER" classify -q -m codes.tpm --leave-one-out --among named -o near.csv
cat >check.py <<'P'
import base64, csv, json, re, struct, sys, zlib
page = open("map.html", encoding="utf-8").read()
assert "@DATA@" not in page and "@STYLE@" not in page and "http" not in page.replace("http-equiv", "")
assert page.count("@media (prefers-color-scheme: dark)") == 1 and "<noscript>" in page
assert "height: 100dvh" in page and "thumbnail(c, i, side)" in page
data = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
d = json.loads(data)
rows = list(csv.reader(open("codes.csv", encoding="utf-8")))[1:]
near = list(csv.reader(open("near.csv", encoding="utf-8")))[1:]
n = d["n"]
assert n == len(rows) == 60 and d["k"] == 12
assert [r[0] for r in rows] == d["names"], "names"
labels = struct.unpack("<%di" % n, base64.b64decode(d["labels"]))
assert [d["classes"][l] for l in labels] == [r[1] for r in rows], "labels"
assert any("<b>" in c for c in d["classes"]) and "<b>" not in data
first = struct.unpack("<%dI" % (n * 12), base64.b64decode(d["near"]))[::12]
assert [d["names"][i] for i in first] == [r[4] for r in near], "neighbours"

# places: distances along two principal components, in one scale
codes = [[float(v) for v in r[2:]] for r in rows]
xy = struct.unpack("<%dH" % (2 * n), base64.b64decode(d["places"]))
def apart(a, b): return sum((p - q) ** 2 for p, q in zip(a, b)) ** .5
def place(i): return xy[2 * i:2 * i + 2]
scale = max(apart(place(i), place(j)) / apart(codes[i], codes[j]) for i in range(n) for j in range(i))
shown = sum(apart(place(i), place(j)) ** 2 for i in range(n) for j in range(i)) / scale ** 2
whole = sum(apart(codes[i], codes[j]) ** 2 for i in range(n) for j in range(i))
assert .5 < shown / whole < 1.0 + 1e-6, shown / whole
best = max(sum((r[k] - sum(c[k] for c in codes) / n) ** 2 for r in codes) * n for k in range(5))
assert shown > best

# the first picture of the sheet is the first image
def pixels(png):
    at, idat, head = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        head = body if kind == b"IHDR" else head
        idat += body if kind == b"IDAT" else b""
        at += 12 + size
    w, h, depth, colour = struct.unpack(">IIBB", head[:10])
    assert depth == 8 and colour in (0, 2)
    c, raw, out = 1 if colour == 0 else 3, zlib.decompress(idat), []
    for y in range(h):
        kind, line = raw[y * (w * c + 1)], bytearray(raw[y * (w * c + 1) + 1:(y + 1) * (w * c + 1)])
        for i in range(w * c):
            a = line[i - c] if i >= c else 0
            b = out[-1][i] if out else 0
            e = out[-1][i - c] if out and i >= c else 0
            p = min((abs(b - e), 0, a), (abs(a - e), 1, b), (abs(a + b - 2 * e), 2, e))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, p)[kind]) & 255
        out.append(line)
    return out, c
sheet, c = pixels(base64.b64decode(d["sheets"][0]))
image, own = pixels(open("named/" + d["names"][0] if not d["names"][0].startswith("named") else d["names"][0], "rb").read())
assert c == own == 3 and d["width"] == 32 and d["height"] == 32
assert [bytes(r[:96]) for r in sheet[:32]] == [bytes(r) for r in image], "picture"
P
python3 check.py
if command -v node >/dev/null; then
    sed '1,/^<script>$/d; /^<\/script>$/,$d' map.html >map.js
    node --check map.js
fi

# --- without -o, of two units, of one image, and where it cannot be ---
"$TAPER" embed -q -m codes.tpm --units 2 --map two.html named
grep -q 'by the numbers of their codes' two.html
"$TAPER" embed -q -m codes.tpm --map one.html set/png/bolt/0001.png
grep -q '"n":1,"k":0' one.html
expect 5 '*two.html*' "$TAPER" embed -q -m codes.tpm --map two.html named
expect 2 '*is an input too*' "$TAPER" embed -q -f -m codes.tpm --map set/png/bolt/0001.png set/png
expect 2 '*--map PAGE*' "$TAPER" embed -q -m codes.tpm set/png
