# `train-labels --objective` without --start: a start that is learned without labels is compared with random weights, and the
# better one kept; default epochs are at least 600 steps; a best epoch at the end is told.
. "$ROOT/tests/cli_helpers.sh"

# 180 images of 12x12. noise: a mark is the class, beside a row of loud noise. shapes: the class is a few large shapes under
# noise of all pixels, which principal components find.
python3 - <<'END'
import random, struct
draw = random.Random(4)
def write(name, pixel):
    data = bytearray()
    for i in range(180):
        row = [255 * draw.randrange(2) for _ in range(12)]
        data += bytes(min(255, max(0, int(pixel(i % 3, y, x, row)))) for y in range(12) for x in range(12))
    open(name, 'wb').write(struct.pack('>4I', 0x803, 180, 12, 12) + data)
def noise(k, y, x, row):
    return row[x] if y == 0 else draw.gauss(160 if 2 + 3 * k <= y < 5 + 3 * k and 4 <= x < 7 else 120, 15)
def shapes(k, y, x, row):
    return draw.gauss((150 if (y // 4 + k) % 3 == 0 else 110), 70)
write('noise', noise)
write('shapes', shapes)
open('labels', 'wb').write(struct.pack('>2I', 0x801, 180) + bytes(i % 3 for i in range(180)))
END
learn() { # name, options...
    name=$1
    shift
    "$TAPER" train-labels -f -T 1 -o "$name.tpm" -k 6 --labels labels "$@" 2>"$name.txt"
}

deep="--objective dt-nca --hidden 60,60 --pretrain-epochs 20 --rate 0.01"
learn deep $deep -e 20 noise
grep -q 'train-labels: --start random is kept: after short training rbm has [0-9.]* % errors, random [0-9.]* % (169 images)' deep.txt
learn drawn $deep --start random -e 20 noise 2>drawn.txt # --pretrain-epochs has no effect, which is told
cmp deep.tpm drawn.tpm
not grep -q 'is kept' drawn.txt
learn two $deep -e 20 -T 2 noise
cmp deep.tpm two.tpm

learn linear --objective nca -e 20 shapes
grep -q 'train-labels: --start pca is kept: after short training pca has ' linear.txt
learn pca --objective nca --start pca -e 20 shapes
cmp linear.tpm pca.tpm
not grep -q 'is kept' pca.txt
learn json --json --objective nca -e 20 shapes >report.json
grep -q '"start":"pca","start_trial_learned_percent":[0-9.]*,"start_trial_random_percent":[0-9.]*,' report.json

# what has nothing to compare
learn zero --objective nca -e 0 noise
learn lda --objective nca --start lda -e 2 noise
learn taught --objective dt-nca --hidden 40 --start taught -e 2 noise
not grep -q 'is kept' zero.txt lda.txt taught.txt
printf 'P5 2 1 255 ab' >a1.pgm
printf 'P5 2 1 255 bb' >a2.pgm
printf 'P5 2 1 255 xa' >b1.pgm
printf 'P5 2 1 255 xb' >b2.pgm
mkdir -p four/a four/b
mv a?.pgm four/a
mv b?.pgm four/b
"$TAPER" train-labels -q -o four.tpm --objective nca -k 1 -e 2 --hold-out 0 four 2>err # too few for folds

# --- epochs: 169 images are a step an epoch; of 700 images two steps ---
learn many --json --objective nca --start pca noise >report.json
test "$(json_number epochs <report.json)" -eq 600
learn many --json --objective nca --start pca --batch 40 noise >report.json
test "$(json_number epochs <report.json)" -eq 150
learn many --json --objective nca --start pca -e 7 noise >report.json
test "$(json_number epochs <report.json)" -eq 7
learn many --json --objective dt-nca --hidden 20 --start rbm --pretrain-epochs 2 --batch 40 noise >report.json
test "$(json_number epochs <report.json)" -eq 40 # pretrained layers need no more
learn many --json --objective dt-nca --hidden 20 --start random --batch 40 noise >report.json
test "$(json_number epochs <report.json)" -eq 150

# --- the best epoch is the last one ---
learn last --objective nca --start random --hold-out 0.4 --rate 0.03 -e 20 noise
grep -q 'last.tpm: warning: the best epoch, 20, is the last one: more epochs may help; give -e 40$' last.txt
learn last --json --objective nca --start random --hold-out 0.4 --rate 0.03 -e 20 noise >report.json
grep -q '"first_best_epoch":1[0-9],"more_epochs_may_help":true' report.json
learn enough --json --objective nca --hold-out 0.4 noise >report.json
grep -q '"more_epochs_may_help":false' report.json
not grep -q 'more epochs may help' enough.txt
