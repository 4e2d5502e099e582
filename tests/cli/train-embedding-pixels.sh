# An objective's error is told beside that of nearest neighbours by pixels; no better: a warning.
. "$ROOT/tests/cli_helpers.sh"

# 300 images of 12x12; the class is a mark beside a row of noise, or a level that a row tells
python3 - <<'END'
import random, struct
draw = random.Random(1)
def byte(x): return min(255, max(0, int(x)))
def write(name, loud):
    pixels = bytearray()
    for i in range(300):
        image = [[draw.gauss(120, 15) for _ in range(12)] for _ in range(12)]
        for y in range(2 + 3 * (i % 3), 5 + 3 * (i % 3)):
            for x in range(4, 7): image[y][x] += 40
        if loud: image[0] = [255 * draw.randrange(2) for _ in range(12)]
        pixels += bytes(byte(v) for row in image for v in row)
    open(name, 'wb').write(struct.pack('>4I', 0x803, 300, 12, 12) + pixels)
write('loud', True)
write('plain', False)
open('labels', 'wb').write(struct.pack('>2I', 0x801, 300) + bytes(i % 3 for i in range(300)))
END

# few epochs of a deep network, which the noise misleads
"$TAPER" train-labels -f -o loud.tpm --objective dt-nca --start rbm -e 3 --hold-out 0.3 --labels labels loud 2>loud.txt
grep -q 'warning: nearest neighbours by pixels are as good or better: [0-9.]* % errors on [0-9]* held-out' loud.txt
"$TAPER" train-labels -q --json -f -o loud.tpm --objective dt-nca --start rbm -e 3 --hold-out 0.3 --labels labels loud \
    >loud.json 2>err
grep -q '"pixels_are_as_good":true' loud.json

# a linear map that finds the mark: the baseline is told, without a warning; JSON has it, too
"$TAPER" train-labels -f -o plain.tpm --objective nca -e 60 --hold-out 0.3 --labels labels loud 2>plain.txt
not grep -q 'by pixels are as good' plain.txt
grep -q 'nearest neighbours by pixels: [0-9.]* % errors ([0-9]* images)' plain.txt
"$TAPER" train-labels -q -f --json -o plain.tpm --objective nca -e 3 --labels labels plain >plain.json
grep -q '"pixels_error_percent":' plain.json
"$TAPER" train-labels -q -f --json -o plain.tpm --objective nca -e 60 --hold-out 0.3 --labels labels loud >plain.json
grep -q '"pixels_are_as_good":false' plain.json
