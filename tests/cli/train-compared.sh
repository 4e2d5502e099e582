# train says on held-out images whether its model is better than the built-in ones, and by how much; what it says is
# what containers of these images take.
"$SAMPLES" small photos --count 160 --format png
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" letters letters --count 260 --format png
"$TAPER" train --window 8 --basis principal -o photos.tpm photos/png 2>said
grep -q '^taper train: on 10 held-out images it needs [0-9.]* % more bytes than the built-in model tiny at equal PSNR (20 to [0-9]* dB)$' said
grep -q '^taper train: at [0-9.]* dB: [0-9]* bytes an image, with tiny [0-9]*$' said
grep -qx 'taper train: warning: the built-in model tiny is better for these images: encode with -m tiny' said
"$TAPER" train --window 10 -o letters.tpm letters/png 2>said
grep -q '^taper train: on 16 held-out images it needs [0-9.]* % fewer bytes than the built-in model tiny ' said
grep -q '^taper train: with its own [0-9.]* KiB counted once for 260 images it needs [0-9.]* % more bytes than tiny; it pays from about [0-9]* images on$' said
not grep -q warning said
from=$(sed -n 's/.* from about \([0-9]*\) images on$/\1/p' said)
"$TAPER" train -f --window 10 --set-images $((2 * from)) -o letters.tpm letters/png 2>said
grep -q "^taper train: with its own [0-9.]* KiB counted once for $((2 * from)) images it needs [0-9.]* % fewer bytes than tiny\$" said

# the same bits for any number of threads
"$TAPER" train -qf -T 1 --json --window 10 -o letters.tpm letters/png >one.json
"$TAPER" train -qf -T 3 --json --window 10 -o letters.tpm letters/png >three.json
cmp one.json three.json
# containers of the held-out images agree with it
mkdir held
ls letters/png/*/*.png | LC_ALL=C sort | awk 'NR % 16 == 9' | while read -r file; do
    cp "$file" "held/$(echo "$file" | tr / -)"
done
"$TAPER" compare -q -m letters.tpm --rivals none --json held >own.json
"$TAPER" compare -q -m tiny --rivals none --json held >tiny.json
python3 - one.json own.json tiny.json <<'END'
import json, math, sys
told, own, tiny = (json.load(open(path)) for path in sys.argv[1:])
c = told["comparison"]
assert c["held_out"] and c["images"] == 16 == own["images"] and c["set_images"] == 260, c
r = next(one for one in c["builtin"] if one["model"] == "tiny")
def bytes_at(curve, db):
    points = [(p["psnr_db"], math.log(p["bytes_per_image"])) for p in curve["curves"][0]["points"]]
    for (low, a), (high, b) in zip(points, points[1:]):
        if low <= db <= high:
            return math.exp(a + (b - a) * (db - low) / (high - low))
real = bytes_at(own, r["at_db"]) / bytes_at(tiny, r["at_db"])
assert r["percent"] < 0 < r["with_model_percent"] and r["from_db"] < r["at_db"] < r["to_db"], r
assert abs(real - r["bytes_per_image"] / r["builtin_bytes_per_image"]) < 0.03, (real, r)
END

# too few to hold any out is said; runs with --quick and codes of whole units are not compared
mkdir few
cp letters/png/A/*.png few
"$TAPER" train -f --window 8 -o few.tpm few 2>said
grep -q '^taper train: on 10 training images it needs ' said
grep -q '^taper train: about .* (training images, payload)$' said
not grep -q 'held-out' said
grep -qx 'taper train: expect lower gains on other images: it was trained on these; with fewer than 16 images none are held out' said
"$TAPER" train -f --json --quick --window 8 --basis principal -o few.tpm few >quick.json 2>said
not grep -q comparison quick.json
"$TAPER" train-bits -f --json -w whole -k 32 -e 1 -o bits.tpm few >bits.json 2>said
not grep -q comparison bits.json
"$TAPER" train -f --from few.tpm --quick -o few-again.tpm few 2>said
not grep -q 'effect' said
