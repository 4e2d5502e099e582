# With a ceiling encode and truncate tell the mean PSNR and the least image, whatever the ceiling; sizes of inputs
# and container stand in one line, with a warning where the container is the larger.
. "$ROOT/tests/cli_helpers.sh"
small_set 40
decode() { "$TAPER" decode -q -f -m model.tpm --format cifar -o "$2" "$1"; }
psnr() { # file, file of CIFAR records: mean and least over images
    python3 -c '
import math, sys
a, b = (open(name, "rb").read() for name in sys.argv[1:])
mse = [sum((x - y) ** 2 for x, y in zip(a[i + 1:i + 3073], b[i + 1:i + 3073])) / 3072 for i in range(0, len(a), 3073)]
db = [min(100, 10 * math.log10(65025 / m)) if m else 100 for m in mse]
print("%.2f dB in the mean, the least %.2f dB, image %d" % (sum(db) / len(db), min(db), 1 + db.index(min(db))))' "$1" "$2"
}
set=set/cifar/test.bin
"$TAPER" encode --best -q -m model.tpm -o whole.taper $set
decode whole.taper whole.bin
images=$(($(wc -c <$set) / 3073))
for ceiling in '-b 1500' '--bytes-per-image 120' '--bpp 0.7' '--bpp 0.7 --layout image' '--psnr 28'; do
    # shellcheck disable=SC2086
    "$TAPER" encode -f -m model.tpm $ceiling -o cut.taper $set 2>said
    decode cut.taper cut.bin
    grep -q -e "$images images, $(wc -c <cut.taper) bytes for $(wc -c <$set) of inputs, .*; $(psnr $set cut.bin)\$" said ||
        { cat said; psnr $set cut.bin; echo "encode $ceiling"; exit 1; }
done
grep -q 'searching for the cut of 28 dB: about six cuts are decoded' said
"$TAPER" encode --best -q -f -m model.tpm --layout image -o image.taper $set
for from in whole image; do
    "$TAPER" truncate -f -m model.tpm --fraction 0.3 --originals $set -o cut.taper $from.taper 2>said
    decode cut.taper cut.bin
    grep -q "; $(psnr $set cut.bin | sed 's/ in the mean/& against the originals/')\$" said || { cat said; exit 1; }
    "$TAPER" truncate -f -m model.tpm -b 1600 -o cut.taper $from.taper 2>said
    decode cut.taper cut.bin
    grep -q "; $(psnr whole.bin cut.bin | sed 's/ in the mean/& against the whole file/')\$" said || { cat said; exit 1; }
done
"$TAPER" truncate -f -m model.tpm --psnr 30 -o cut.taper whole.taper 2>said
decode cut.taper cut.bin
grep -q "; $(psnr whole.bin cut.bin | sed 's/ in the mean/& against the whole file/')\$" said || { cat said; exit 1; }

# names; one image; a model that is not at hand; --quick; the ceiling that cuts nothing; sets of which a part is measured
"$TAPER" encode --best -q -f -m model.tpm -o named.taper set/png
"$TAPER" truncate -f -m model.tpm -b 3000 -o cut.taper named.taper 2>said
grep -q 'the least [0-9.]* dB, [a-z]*/[0-9]*.png$' said
"$TAPER" encode -f -m model.tpm -b 300 -o one.taper set/png/ring/0001.png 2>said
grep -q 'one.taper; [0-9.]* dB$' said
"$TAPER" truncate -f -b 3000 -o cut.taper named.taper 2>said
grep -q 'was not measured: .*-m' said
"$TAPER" truncate -f --quick -b 3000 -o quick.taper named.taper 2>said
cmp quick.taper cut.taper
[ "$(wc -l <said)" -eq 1 ]
if grep -q ' dB' said; then exit 1; fi
"$TAPER" encode -f --quick -m model.tpm -b 1500 -o cut.taper $set 2>said
if grep -q ' dB' said; then exit 1; fi
"$TAPER" truncate -f --fraction 1 -m model.tpm -o cut.taper whole.taper 2>said
if grep -q ' dB' said; then exit 1; fi
printf '\000\000\010\003\000\000\016\020\000\000\000\040\000\000\000\040' >many.idx # 3600 x 32 x 32
head -c $((3600 * 1024)) /dev/zero | tr '\000' '\177' >>many.idx
expect 0 '*(measured on [0-9]* of 3600 images)' "$TAPER" encode -m model.tpm --group 400 -b 60K -o many.taper many.idx

# larger than its inputs
printf 'P5 8 8 255\n' >tiny.pgm
head -c 64 "$SAMPLES" >>tiny.pgm
expect 0 '*tiny.taper: warning: the container is larger than its inputs, and lossy: --psnr 40*' \
    "$TAPER" encode --best -m model.tpm -o tiny.taper tiny.pgm
expect 0 '*' "$TAPER" encode -m model.tpm -b 3000 -o small.taper -f $set
if grep -q larger expect.err; then exit 1; fi
nothing_left
