# Images that are nothing like photographs come back at 48 dB and more, and encode says how well at least.
. "$ROOT/tests/cli_helpers.sh"
python3 "$ROOT/tests/awkward_images.py" drawn
test "$(count_png drawn)" -eq 40
for model in photo tiny; do
    "$TAPER" encode --best -m $model -o $model.taper drawn 2>told
    "$TAPER" decode -q -m $model -o $model $model.taper
    python3 "$ROOT/tests/least_psnr.py" drawn $model >least
    read -r least whose <least
    echo "$model: $least dB, $whose"
    awk -v least="$least" 'BEGIN { exit !(least >= 48) }'
    # what encode told, within half a decibel
    says=$(sed -n 's/.*least quality at full length: \([0-9.]*\) dB.*/\1/p' told)
    awk -v least="$least" -v says="$says" 'BEGIN { d = least - says; exit !(d < 0.5 && d > -0.5) }'
    "$TAPER" verify --strict $model.taper | grep -q ': whole'
done
# a set that needs no raised planes does not say that it has any, one that does says so
"$SAMPLES" small set --count 12 --format cifar
"$TAPER" encode --best -q -m tiny -o plain.taper set/cifar/train.bin
features() { od -An -tu4 -j12 -N4 "$1" | tr -d ' '; } # 2: raised planes, 8: pixel layers
test "$(features plain.taper)" -eq 0
"$TAPER" encode --best --drawings lossy -q -m tiny -o lossy.taper drawn
test "$(features lossy.taper)" -eq 2
test "$(features tiny.taper)" -eq 10
# one small image: some cuts are drawn as shorter ones, with --quick none is
"$SAMPLES" small few --count 12 --format png
holds() { od -An -tu4 -j16 -N4 "$1" | tr -d ' '; }
image=$(find few/png -name '*.png' | sort | head -n 1)
"$TAPER" encode --best -q -m tiny -o held.taper "$image"
"$TAPER" encode --best -q --quick -m tiny -o quick.taper "$image"
test "$(holds held.taper)" -ne 0
test "$(holds quick.taper)" -eq 0
# a model that cannot reach 45 dB says how many images, and which is the worst
"$TAPER" train -q --window 8 --units 6 -o short.tpm set/cifar/train.bin
expect 0 '*.png: warning: has the lowest PSNR at full length, * dB; 40 images end below 45 dB*' \
    "$TAPER" encode --best -m short.tpm -o short.taper drawn
# repacked and joined they are the same images
"$TAPER" repack -q -m tiny --layout image -o each.taper tiny.taper
"$TAPER" decode -q -m tiny -o each each.taper
diff -r tiny each
"$TAPER" encode --best -q -m tiny --group 2 -o one.taper drawn/text-red-blue.png drawn/noise.png
"$TAPER" encode --best -q -m tiny --group 2 -o two.taper drawn/screenshot.png drawn/checkerboard-1.png
"$TAPER" merge -q -o both.taper one.taper two.taper
"$TAPER" decode -q -m tiny -o both both.taper
for name in text-red-blue noise screenshot checkerboard-1; do cmp both/$name.png tiny/$name.png; done
nothing_left
