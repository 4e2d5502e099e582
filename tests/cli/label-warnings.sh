# What `train-labels` and `classify` say of labels: errors by class and the balanced error where classes are unequal, votes by
# class, classes of few images, equal images under two labels, intervals of few images.
. "$ROOT/tests/cli_helpers.sh"

# 4 x 4 pixels: `many` are darker, `few` lighter, with much noise. Of 240 and 8 to vote, 100 and 100 to test.
python3 - <<'END'
import os, random
draw = random.Random(3)
def write(folder, name, n, level):
    os.makedirs(f'{folder}/{name}', exist_ok=True)
    for i in range(n):
        values = bytes(min(255, max(0, int(draw.gauss(level, 30)))) for _ in range(16))
        open(f'{folder}/{name}/{i + 1000}.pgm', 'wb').write(b'P5 4 4 255\n' + values)
for folder, n in (('set', (240, 8)), ('test', (100, 100))):
    write(folder, 'many', n[0], 100)
    write(folder, 'few', n[1], 124)
END
json() { # name of a number, class or -
    python3 -c 'import json, sys
line = [json.loads(l) for l in sys.stdin][-1]
if sys.argv[2] != "-": line = {c["class"]: c for c in line["class_errors"]}[sys.argv[2]]
else: line = {**line, **line.get("errors", [{}])[0]}
print(line[sys.argv[1]])' "$1" "$2"
}
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 1e-9 && d > -1e-9) }'; }

# --- the held-out error is small and the balanced one is not ---
"$TAPER" classify --among set --leave-one-out -o own.csv 2>own.txt
grep -q "classify: warning: 1 class has fewer than 30 labelled images: 'few' (8); their errors are uncertain: add images of them" own.txt
grep -q "warning: class 'many' has 240 labelled images and class 'few' 8, .* give --votes balanced if" own.txt
grep -q '^balanced error [0-9.]* %, the mean of 2 classes; 95 % interval [0-9.]* to [0-9.]* %$' own.txt
grep -q '^ *[0-9.]* %  few: [0-9] of 8; 95 % interval [0-9.]* to [0-9.]* %$' own.txt
"$TAPER" classify -q --json -f --among set --leave-one-out -o own.json 2>err
awk -v e="$(json percent - <own.json)" -v b="$(json balanced_percent - <own.json)" 'BEGIN { exit !(e < 5 && b > 20) }'
many=$(json percent many <own.json) few=$(json percent few <own.json)
near "$(json balanced_percent - <own.json)" "$(awk -v a="$many" -v b="$few" 'BEGIN { printf "%.17g", (a + b) / 2 }')"
near "$few" "$(awk -F, 'NR > 1 && $7 == "few" { n++; wrong += $2 != $7 } END { printf "%.17g", 100 * wrong / n }' own.csv)"

# equal numbers of both: the balanced error is the error, and within the interval that was told
low=$(json balanced_low_percent - <own.json) high=$(json balanced_high_percent - <own.json)
"$TAPER" classify -q --json --among set test >test.json 2>err
near "$(json percent - <test.json)" "$(json balanced_percent - <test.json)"
awk -v e="$(json percent - <test.json)" -v a="$low" -v b="$high" 'BEGIN { exit !(a <= e && e <= b) }'

# votes by class: a rare class is not outvoted
"$TAPER" classify -q --json --votes balanced --among set test >balanced.json 2>err
not grep -q 'give --votes balanced' err
awk -v e="$(json percent - <test.json)" -v b="$(json percent - <balanced.json)" 'BEGIN { exit !(b < 0.8 * e) }'
expect 2 '*--votes takes one of equal, balanced*' "$TAPER" classify --votes some --among set test
mkdir part
cp -r set/* part
cp test/few/100?.pgm part
"$TAPER" classify -q --unlabelled part -o equal.csv 2>err
"$TAPER" classify -q --unlabelled --votes balanced part -o weighed.csv 2>err
test "$(grep -c '^[0-9]*.pgm,few,' weighed.csv)" -gt "$(grep -c '^[0-9]*.pgm,few,' equal.csv)"

# --- the same of training, by hand and by trials ---
"$TAPER" train-labels -o hand.tpm --objective nca -k 4 -e 2 --hold-out 0.2 set 2>hand.txt
grep -q "train-labels: warning: 1 class has fewer than 30 labelled images: 'few' (8)" hand.txt
grep -q "train-labels: warning: class 'many' has 240 labelled images" hand.txt
grep -q 'train-labels: balanced error [0-9.]* %, the mean of ' hand.txt
"$TAPER" train-labels -q --json -f -o hand.tpm --objective nca -k 4 -e 2 --hold-out 0.2 set >hand.json 2>err
test "$(json tested many <hand.json)" -ge 40
grep -q '"small_classes":1,"images_under_two_labels":0,"few_tested":false' hand.json
"$TAPER" train-labels -f -o hand.tpm --objective nca -k 4 -e 2 set 2>hand.txt # 16 held out, of one class or of both
grep -q 'warning: the interval is of 16 tested images only, below 50: hold more out (--hold-out 0.3)' hand.txt
"$TAPER" train-labels -q --json -f -o auto.tpm --minutes 0.05 set >lines 2>err
tail -1 lines >auto.json
test "$(json tested few <auto.json)" -eq 8
test "$(json tested many <auto.json)" -eq 240
awk -v e="$(json error_percent - <auto.json)" -v b="$(json balanced_error_percent - <auto.json)" 'BEGIN { exit !(e < 6 && b > e) }'
"$TAPER" train-labels -f -o auto.tpm --minutes 0.05 --votes balanced set 2>auto.txt
grep -q 'train-labels: balanced errors, by which the settings are chosen:' auto.txt
grep -q 'train-labels: balanced error [0-9.]* %, the mean of 2 classes' auto.txt
not grep -q 'give --votes balanced' auto.txt
"$TAPER" train-labels -q -f -o hand.tpm --objective nca -k 4 -e 2 --hold-out 0.2 --votes balanced set 2>err

# a class without a held-out image may have any error
mkdir -p lone/many lone/few
cp set/many/10[0-4]?.pgm lone/many
cp set/few/100[01].pgm lone/few
"$TAPER" train-labels -q --json -o lone.tpm --objective nca -k 4 -e 2 --hold-out 0.05 lone >lone.json 2>err
test "$(json tested few <lone.json)" -eq 0
awk -v b="$(json balanced_error_percent_high - <lone.json)" 'BEGIN { exit !(b >= 50) }'

# --- equal images under two labels; others may be equal ---
cp set/many/1001.pgm set/few/twin.pgm
cp set/many/1002.pgm set/many/same.pgm
"$TAPER" classify --among set --leave-one-out -f -o own.csv 2>own.txt
grep -q "warning: 'few/twin.pgm' (class 'few') and 'many/1001.pgm' (class 'many') have the same pixels: correct a label, or remove one" own.txt
test "$(grep -c 'the same pixels' own.txt)" -eq 1
"$TAPER" train-labels --json -f -q -o hand.tpm --objective nca -k 4 -e 2 set >hand.json 2>hand.txt
grep -q "train-labels: warning: 'few/twin.pgm' (class 'few') and 'many/1001.pgm' (class 'many') have the same pixels" hand.txt
grep -q '"images_under_two_labels":2' hand.json
rm set/few/twin.pgm set/many/same.pgm
cp set/many/1003.pgm test/few/1050.pgm # among the inputs
"$TAPER" classify -q --among set test -o test.csv 2>err
grep -q "'many/1003.pgm' (class 'many') and 'few/1050.pgm' (class 'few') have the same pixels" err
grep -q "warning: 1 of 200 tested images has the pixels of a labelled one ('few/1050.pgm'): the error is too low; test other images, or give" err
"$TAPER" classify -q --among set set -o test.csv -f 2>err
grep -q "warning: 248 of 248 tested images have the pixels of a labelled one ('.*' is the first): the error is too low" err
"$TAPER" classify -q --among set --leave-one-out -f -o own.csv 2>own.txt
not grep -q 'the error is too low' own.txt
rm test/few/1050.pgm
"$TAPER" classify -q --among set test -f -o test.csv 2>err
not grep -q 'the error is too low' err
cp set/many/1003.pgm test/few/1050.pgm
cp test/few/1050.pgm part
"$TAPER" classify -q --among set part -f -o test.csv 2>err # no label of its own
not grep -q 'same pixels' err
for i in 4 5 6 7 8 9; do cp set/many/100$i.pgm set/few/t$i.pgm; done
"$TAPER" classify -q --among set --leave-one-out -f -o own.csv 2>own.txt
test "$(grep -c 'have the same pixels' own.txt)" -eq 5
grep -q 'warning: 1 more picture is there under two labels; 12 images in all' own.txt

# --- many small classes are counted; few tested images ---
mkdir small
for i in 1 2 3 4 5 6 7 8; do mkdir small/c$i; cp test/few/102$i.pgm test/many/101$i.pgm small/c$i; done
cp test/few/1031.pgm small/c1
"$TAPER" classify -q --among small --leave-one-out -k 1 -o small.csv 2>err
grep -q "warning: 8 classes have fewer than 30 labelled images: 'c2' (2), 'c3' (2), 'c4' (2), 'c5' (2), 'c6' (2) and 3 more; " err
grep -q 'warning: the interval is of 17 tested images only, below 50: give more images with true labels' err
nothing_left
