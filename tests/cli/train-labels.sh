# `train-labels` without --objective: class folders in, within some seconds a model out whose neighbours tell the classes; it
# says what it tried, what to expect, and how to learn the same again, which makes the same codes.
. "$ROOT/tests/cli_helpers.sh"

# 8 x 8 pixels: a faint checkerboard, one way or the other, or stripes, under light that falls from any side
checks() { # folder, images of each class
    for class in even odd stripes; do
        mkdir -p "$1/$class"
        for n in $(seq 101 $((100 + $2))); do
            LC_ALL=C awk -v class=$class -v seed=$((n + 1000 * ${#class})) 'BEGIN {
                srand(seed); a = rand() - 0.5; b = rand() - 0.5; c = rand() - 0.5
                printf "P5 8 8 255\n"
                for (i = 0; i < 64; i++) {
                    x = i % 8; y = int(i / 8); k = class == "stripes" ? x : x + y + (class == "odd")
                    printf "%c", 64 + 6 * (k % 2) + 30 * c + 10 * (a * (x - 3.5) + b * (y - 3.5)) + 6 * rand()
                }
            }' >"$1/$class/$n.pgm"
        done
    done
}
checks set 80
"$TAPER" train-labels -o found.tpm --minutes 0.4 --seed 5 set 2>found.txt
grep -q 'tried on 240 images, 4 folds, 5 votes: nearest neighbours by pixels have' found.txt
grep -q 'a plain classifier, two hidden layers of 500 units, has [0-9.]* % errors ([0-9]* epochs*, [0-9]* s)' found.txt
grep -q '%  a linear map' found.txt
grep -q 'no held-out image is in error: no more settings are tried\|%  principal components' found.txt
grep -q 'a linear map: kept' found.txt
grep -q 'held out from the trials: ' found.txt
not grep -q 'not certain that labels help\|labels do not help here' found.txt
"$TAPER" info found.tpm | grep -qi embedding

# --- the same again ---
words=$(sed -n 's/.*to train it again: //p' found.txt)
# shellcheck disable=SC2086
"$TAPER" train-labels -q -o again.tpm $words set
cmp found.tpm again.tpm

# --- what it can choose, too: principal components as they are ---
"$TAPER" train-labels -q --json -o start.tpm --objective nca -k 5 -e 0 set >start.json
grep -q '"epochs":0,"best_epoch":0,"start_error_percent":\([0-9.]*\),"error_percent":\1,' start.json
"$TAPER" train-labels -q -f -o start.tpm --objective nca -k 3 -e 0 --hold-out 0 set
"$TAPER" embed -q -m start.tpm -o start.csv set
awk -F, 'NR > 1 { for (i = 3; i <= 5; i++) for (k = i; k <= 5; k++) sum[i, k] += $i * $k } END {
    exit !(sum[3, 3] > sum[4, 4] && sum[4, 4] > sum[5, 5] && uncorrelated(3, 4) && uncorrelated(3, 5) && uncorrelated(4, 5)) }
    function uncorrelated(a, b) { return sum[a, b] ^ 2 < 1e-4 * sum[a, a] * sum[b, b] }' start.csv

# --- options that it says are without effect have none ---
"$TAPER" train-labels -f -o found.tpm --minutes 0.1 --corrupt 0.5 --start taught --guess-labels --l2 3 --nested 2,4 set 2>found.txt
grep -q 'without effect here: .*--nested' found.txt
words=$(sed -n 's/.*to train it again: //p' found.txt)
# shellcheck disable=SC2086
"$TAPER" train-labels -q -f -o again.tpm $words set
cmp found.tpm again.tpm

# --- one pixel, of which a network would be too much work ---
mkdir -p pixel/dark pixel/light
for n in $(seq 101 130); do
    printf "P5 1 1 255\n\\$(printf %03o $((n - 80)))" >pixel/dark/$n.pgm
    printf "P5 1 1 255\n\\$(printf %03o $((n + 80)))" >pixel/light/$n.pgm
done
"$TAPER" train-labels -q --json -f -o pixel.tpm --minutes 0.1 pixel >lines
tail -1 lines >pixel.json
grep -q '"error_percent":0,' pixel.json

# --- it is better than pixels, where pixels are poor ---
"$TAPER" train-labels -q --json -f -o found.tpm --minutes 0.4 set >lines
tail -1 lines >found.json
grep -q '^{"schema":1,"trial":"gradients, a linear map","error_percent":[0-9.]*,.*"options":"--objective nca .*--cells 4 --hold-out 0"}$' lines
grep -q '"options":"--objective .*","trials":' found.json
grep -q '"classifier_error_percent":[0-9.]*,.*"classifier_is_better":\(true\|false\)' found.json
sed 's/.*"options":"\(.*\) -e [1-9][0-9]*\(.*\)"}$/\1\2/' lines | sed '$d' >options
test "$(sort options | uniq -d | wc -l)" -eq 0 # no options are tried twice
awk -F'"pixels_error_percent":' '{ split($2, a, ","); split($0, b, "\"error_percent\":"); split(b[2], e, ",")
    exit !(e[1] < a[1] / 2) }' found.json

# --- labels by chance: it says that they do not help ---
ls set/*/* | awk 'BEGIN { srand(5) } { print $0 "," (rand() < 0.5 ? "a" : "b") }' >chance.csv
ls set/*/* >list
"$TAPER" train-labels -f -o chance.tpm --minutes 0.05 --labels chance.csv --filelist list 2>chance.txt
grep -q 'not certain that labels help\|labels do not help here' chance.txt
"$TAPER" train-labels -q -f --json -o chance.tpm --minutes 0.05 --labels chance.csv --filelist list >lines
tail -1 lines >chance.json
awk -F'"best_error_percent":|,"error_percent":|,"error_percent_low":|,"error_percent_high":' '{
    split($5, high, /[,}]/); exit !($2 > 30 && $3 > 40 && $4 < 50 && high[1] > 45) }' chance.json

# --- two images a class: no recipe is tried by votes that others must win; -k is kept ---
mkdir -p two/even two/odd two/stripes
for class in even odd stripes; do cp set/$class/101.pgm set/$class/102.pgm two/$class; done
"$TAPER" train-labels -f -k 7 -o two.tpm --minutes 0.05 two 2>two.txt
grep -q 'tried on 6 images, 4 folds, 1 vote: ' two.txt
not grep -q 'twice as many numbers' two.txt
grep -q 'to train it again: .* -k 7 ' two.txt

# --- what it is not told ---
usage() { # words that the message has, arguments
    want=$1
    shift
    code=0
    "$TAPER" train-labels -q -f -o no.tpm "$@" 2>no.txt || code=$?
    test "$code" -eq 2
    grep -q -e "$want" no.txt
}
usage 'minutes' --minutes 0 set
sed 's/$/,a/' list >one.csv
code=0
"$TAPER" train-labels -q -o no.tpm --minutes 0.1 --labels one.csv --filelist list 2>no.txt || code=$?
test "$code" -ne 0
grep -q 'one class' no.txt
test ! -e no.tpm
