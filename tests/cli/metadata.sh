# Metadata go into a container and come back: profile, cICP, gamma, chromaticities, density, EXIF, XMP and the time of the
# file; through truncate, repack, merge and remove; of a limited size what changes the look alone; with --strip none.
. "$ROOT/tests/cli_helpers.sh"
cat >chunks.py <<'END'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def profile(red):
    """A profile of these colours; sRGB's with red 0.436."""
    def number(x):
        return struct.pack(">i", round(x * 65536))
    tags = [(name, b"XYZ " + bytes(4) + b"".join(map(number, xyz))) for name, xyz in
            ((b"rXYZ", (red, 0.2225, 0.0139)), (b"gXYZ", (0.3851, 0.7169, 0.0971)), (b"bXYZ", (0.1431, 0.0606, 0.7141)))]
    tags += [(name, b"curv" + bytes(4) + struct.pack(">IH", 1, 563) + bytes(2)) for name in (b"rTRC", b"gTRC", b"bTRC")]
    table, data, at = b"", b"", 132 + 12 * len(tags)
    for name, content in tags:
        table += name + struct.pack(">II", at + len(data), len(content))
        data += content
    rest = bytes(8) + b"mntrRGB XYZ " + bytes(12) + b"acsp" + bytes(88) + struct.pack(">I", len(tags)) + table + data
    return struct.pack(">I", len(rest) + 4) + bytes(4) + rest[4:]
def exif(orientation, date):
    return (b"II*\0" + struct.pack("<IHHHIHHHHIII", 8, 2, 0x112, 3, 1, orientation, 0, 0x132, 2, len(date), 38, 0) + date)
XMP = b'XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>'
def png(name, *more, size=(12, 7), kind=2):
    w, h = size
    row = b"\0" + bytes(range(w * (3 if kind == 2 else 1)))
    open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, kind, 0, 0, 0)) +
                           b"".join(more) + chunk(b"IDAT", zlib.compress(row * h)) + chunk(b"IEND", b""))
def chunks(name):
    data, at, found = open(name, "rb").read(), 8, {}
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        assert struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
        found[kind.decode()] = body
        at += 12 + n
    return found
END
mkdir in
python3 - <<'END'
from chunks import *
wide, srgb = profile(0.60), profile(0.436)
numbers = [chunk(b"gAMA", struct.pack(">I", 100000)), chunk(b"cHRM", struct.pack(">8I", *range(31270, 31278))),
           chunk(b"pHYs", struct.pack(">IIB", 3937, 7874, 1))]
png("in/all.png", chunk(b"iCCP", b"x\0\0" + zlib.compress(wide)), *numbers, chunk(b"eXIf", exif(6, b"2021:02:03 04:05:06\0")),
    chunk(b"iTXt", XMP % 6))
png("in/again.png", chunk(b"iCCP", b"y\0\0" + zlib.compress(wide, 1)), chunk(b"eXIf", exif(1, b"2022:02:03 04:05:06\0")))
png("in/cicp.png", chunk(b"cICP", bytes((12, 13, 0, 1))))
png("in/linear.png", numbers[0])
png("in/plain.png")
png("in/srgb.png", chunk(b"iCCP", b"x\0\0" + zlib.compress(srgb)), chunk(b"sRGB", b"\0"), chunk(b"gAMA", struct.pack(">I", 45455)))
END
k=0
for f in in/*; do k=$((k + 1)); touch -d "2001-02-03 04:05:0$k.12345678$k UTC" "$f"; done
encode() { "$TAPER" encode -q -f -m tiny --best --drawings lossy "$@"; }
encode -o all.taper in
"$TAPER" info --json all.taper | grep -q '"profiles":3,"exif":2,"xmp":1,"cicp":1,"gamma":3,"chromaticities":1,"density":1,"times":6,"payloads":5,'
"$TAPER" info all.taper | grep -q 'metadata.*images with profile: 3, EXIF: 2, XMP: 1, cICP: 1, gamma: 3, chromaticities: 1, density: 1, time: 6'

# all of them, upright
same() { # FOLDER
    for f in in/*; do [ "$(stat -c %y "$f")" = "$(stat -c %y "$1/${f#in/}")" ]; done
    python3 - "$1" <<'END'
from chunks import *
for name in "all", "again", "cicp", "linear", "plain", "srgb":
    a, b = chunks("in/%s.png" % name), chunks("%s/%s.png" % (sys.argv[1], name))
    for kind in "cICP", "gAMA", "cHRM", "pHYs":
        assert a.get(kind) == b.get(kind), (name, kind)
    assert ("iCCP" in a) == ("iCCP" in b) and ("eXIf" in a) == ("eXIf" in b), name
    if "iCCP" in a:
        assert zlib.decompress(a["iCCP"][3:]) == zlib.decompress(b["iCCP"][b["iCCP"].index(b"\0") + 2:]), name
    if "eXIf" in a:
        assert b["eXIf"] == exif(1, a["eXIf"][38:]), name
b = chunks(sys.argv[1] + "/all.png")
assert b["iTXt"] == XMP % 1 and struct.unpack(">II", b["IHDR"][:8]) == (7, 12)  # turned
END
}
"$TAPER" decode -q -o out all.taper
same out
# the mark of files that decode wrote holds with metadata and times; a changed file is not replaced
"$TAPER" decode -q -f -o out all.taper
same out
printf x >>out/plain.png
expect 5 '*is not as `taper decode` wrote it*' "$TAPER" decode -f -o out all.taper

# containers from containers
"$TAPER" truncate -q -f -b 3000 -o cut.taper all.taper
"$TAPER" repack -q -f --layout image -o image.taper all.taper
"$TAPER" repack -q -f -o back.taper image.taper
for way in cut image back; do
    rm -rf out
    "$TAPER" decode -q -o out $way.taper
    same out
    "$TAPER" verify -q $way.taper
done
encode -o a.taper in/again.png in/all.png in/cicp.png
encode -o b.taper in/linear.png in/plain.png in/srgb.png
"$TAPER" merge -q -o joined.taper a.taper b.taper a.taper
"$TAPER" info --json joined.taper | grep -q '"profiles":5,"exif":4,.*"times":9,"payloads":5,'
rm -rf out
"$TAPER" decode -q -i 1-6 -o out joined.taper
same out

# images taken out of a container, and removed from it
"$TAPER" extract -q -o out2 all.taper all.png
[ "$(stat -c %y out2/all.png)" = "$(stat -c %y in/all.png)" ]
cmp out2/all.png out/all.png
"$TAPER" remove -q -o fewer.taper all.taper again.png plain.png
"$TAPER" info --json fewer.taper | grep -q '"profiles":2,"exif":1,.*"times":4,"payloads":4,'

# one image to a file, and through a pipe
"$TAPER" decode -q -i all.png -o one.png all.taper
[ "$(stat -c %y one.png)" = "$(stat -c %y in/all.png)" ]
rm -rf out
"$TAPER" decode -q -p -o out - <all.taper
same out
"$TAPER" decode -q --format pnm -o pnm all.taper
[ "$(stat -c %y pnm/all.pnm)" = "$(stat -c %y in/all.png)" ]

# with a limit of the size only what changes the look, and with --strip nothing: then no byte tells of it
encode -b 3000 -o limited.taper in
"$TAPER" info --json limited.taper | grep -q '"profiles":2,"exif":0,"xmp":0,"cicp":1,"gamma":1,"chromaticities":0,"density":0,"times":0,"payloads":1,'
encode --strip -o strip.taper in
encode --strip -b 1M -o plain.taper in/plain.png
encode -b 1M -o limited-plain.taper in/plain.png
cmp plain.taper limited-plain.taper
"$TAPER" info --json strip.taper | not grep metadata

# a quality is no limit of the size; what truncate and repack strip is as if it had never been there
encode --psnr 20 -o quality.taper in
"$TAPER" info --json quality.taper | grep -q '"profiles":3,"exif":2,.*"times":6,"payloads":5,'
"$TAPER" repack -q --strip -o stripped.taper all.taper
"$TAPER" repack -q -o again.taper strip.taper
cmp stripped.taper again.taper
"$TAPER" repack -q -f --strip -o again.taper strip.taper
cmp stripped.taper again.taper
"$TAPER" repack -q --strip --layout image -o stripped-image.taper image.taper
"$TAPER" repack -q --layout image -o strip-image.taper strip.taper
cmp stripped-image.taper strip-image.taper
"$TAPER" truncate -q -f --strip -b 2000 -o stripped.taper - <all.taper
"$TAPER" truncate -q -f -b 2000 -o cut.taper strip.taper
cmp stripped.taper cut.taper
head -c 2000 all.taper >front.taper
"$TAPER" truncate -q --strip -b 1M -f -o stripped.taper front.taper
"$TAPER" info --json stripped.taper | not grep metadata
"$TAPER" decode -q -f -o out3 stripped.taper
[ "$(find out3 -name '*.png' | wc -l)" -eq 6 ]

# the teaching decoder reads the same
python3 "$ROOT/formats/teaching_decoder.py" --info all.taper >told
grep -q "^metadata of image 1: icc 3.. bytes, exif 58 bytes, xmp .* bytes, gamma 100000, chromaticities .31270, .*, density (3937, 7874, 0), time 981173102123456782$" told

# members of an archive have their times
tar cf in.tar in
encode -o tar.taper in.tar 2>tar.err || { grep -q libarchive tar.err && exit 0; exit 1; }
rm -rf out
"$TAPER" decode -q -o out tar.taper
find out -name cicp.png >found
[ "$(date -r "$(cat found)" +%s)" -eq "$(date -r in/cicp.png +%s)" ]
