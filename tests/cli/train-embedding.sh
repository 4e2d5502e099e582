# `train-labels --objective`: a model that tells classes apart, from folders, CIFAR records and label files; runs
# repeat, with any number of threads, and resume; and what cannot be learned from is said in words that name
# the remedy.
. "$ROOT/tests/cli_helpers.sh"
bars set 120
images=set
quick="--hidden 40 -k 6 -e 12 --batch 90 --rate 0.02 --pretrain-epochs 4 -T 1"

# --- it learns, repeats, and says what it is ---
"$TAPER" train-labels -q --json -o one.tpm --objective dt-nca $quick --log one.jsonl --plot one "$images" >one.json
"$TAPER" info one.tpm | grep -qi embedding
"$TAPER" train-labels -q -o two.tpm --objective dt-nca $quick -T 2 "$images"
cmp one.tpm two.tpm
grep -q '"objective":"dt-nca"' one.json
error=$(sed 's/.*"error_percent":\([0-9.]*\).*/\1/' one.json)
start=$(sed 's/.*"start_error_percent":\([0-9.]*\).*/\1/' one.json)
awk -v a="$error" -v b="$start" 'BEGIN { exit !(a < b) }'
test "$(grep -c held_out_error_percent one.jsonl)" -eq 12
test "$(grep -c pretraining_layer one.jsonl)" -eq 8
test -s one.csv
test -s one.svg

# --- every objective and start; labels of three kinds ---
for objective in nca log-nca mcml; do
    for start in random identity pca lda; do
        "$TAPER" train-labels -q -o linear.tpm -f --objective $objective --start $start -k 4 -e 2 --batch 200 "$images"
    done
done
for objective in nca dt-mcml dg-nca dg-mcml; do
    "$TAPER" train-labels -q -o deep.tpm -f --objective $objective $quick -e 1 "$images"
done
"$SAMPLES" small records --count 60 --format cifar
"$TAPER" train-labels -q -o records.tpm --objective nca --start random -k 4 -e 1 records/cifar/train.bin
"$TAPER" train-labels -q -o drawn.tpm --objective dt-nca --hidden 40 -k 6 -e 2 --start random --degrees learned \
    --hinge 0.1 --l2 1e-4 --hold-out 0 "$images"
"$TAPER" train-labels -q -o logarithm.tpm --objective dt-log-nca --hidden 40 -k 6 -e 2 --start random "$images"
"$TAPER" info logarithm.tpm | grep -q 'dt-log-nca, alpha 5'
"$TAPER" train-labels -q -o denoised.tpm --objective dt-nca $quick -e 1 --start denoising --optimiser cg --degrees 2 "$images"
ls set/*/* | head -300 >list
awk -F/ '{ print $0 "," $2 }' list >labels.csv
"$TAPER" train-labels -q -o listed.tpm --objective nca -k 4 -e 1 --labels labels.csv --filelist list

"$TAPER" train-labels --json -q -f -o all.tpm --objective nca -k 4 -e 1 --hold-out 0 "$images" | grep -q '"held_out":0'

# --- codes of it, and classes by them ---
"$TAPER" embed -q -m one.tpm -o codes.npy "$images"
"$TAPER" classify -q -m one.tpm --leave-one-out --among "$images" --json 2>/dev/null | tail -1 | grep -q '"kind":"errors"'

# --- a start that sees labels does not see those of held-out images: labels by chance stay that ---
ls set/*/* | awk 'BEGIN { srand(5) } { print $0 "," (rand() < 0.5 ? "a" : "b") }' >chance.csv
"$TAPER" train-labels -q --json -o chance.tpm --objective nca --start lda -k 1 -e 1 --rate 1e-9 --hold-out 0.4 --neighbours 9 \
    --labels chance.csv --filelist list >chance.json
awk -F'"error_percent":' '{ split($2, e, ","); exit !(e[1] > 35) }' chance.json

# --- every length of a nested code is a code ---
"$TAPER" train-labels -q --json -o nested.tpm --objective dt-mcml --start random --hidden 40 -k 6 --nested 2,3 -e 30 --batch 90 \
    --hold-out 0.3 "$images" >nested.json
for units in 2 3 6; do
    sed "s/.*\"error_percent_of_first_$units\":\([0-9.]*\).*/\1/" nested.json |
        awk '{ exit !($1 + 0 == $1 && $1 < 60) }' # by chance 67
done

"$TAPER" embed -q -m nested.tpm -o whole.csv "$images"
"$TAPER" embed -q -m nested.tpm --units 2 -o front.csv "$images"
cut -d, -f1-4 whole.csv | cmp - front.csv
"$TAPER" classify -q -m nested.tpm --units 2 --leave-one-out --among "$images" -o front.labels
not cmp -s front.labels whole.labels
code=0
"$TAPER" embed -q -m nested.tpm --units 7 -o no.csv "$images" 2>err || code=$?
test "$code" -eq 2
grep -q 'codes have only 6 units' err

# --- it resumes ---
"$TAPER" train-labels -q -o whole.tpm --objective dt-nca --start random --hidden 40 -k 6 -e 40 --batch 90 "$images"
"$TAPER" train-labels -q -o killed.tpm --objective dt-nca --start random --hidden 40 -k 6 -e 40 --batch 90 \
    --checkpoint part "$images" &
running=$!
while [ ! -e part ] && kill -0 $running 2>/dev/null; do sleep 0.02; done
kill -KILL $running 2>/dev/null || true
wait $running 2>/dev/null || true
test -s part
"$TAPER" train-labels -q -o resumed.tpm --objective dt-nca --start random --hidden 40 -k 6 -e 40 --batch 90 \
    --checkpoint part --resume "$images"
cmp whole.tpm resumed.tpm

# --- refusals ---
refused() { # code, words, arguments...
    want=$1 words=$2 code=0
    shift 2
    "$TAPER" train-labels -q -o never.tpm "$@" >out 2>err || code=$?
    test "$code" -eq "$want" || { echo "exit $code, not $want:"; cat err; exit 1; }
    grep -q -e "$words" err || { echo "no '$words' in:"; cat err; exit 1; }
    test ! -e never.tpm
}
mkdir plain one-class
cp $(ls set/*/* | head -20) plain
refused 2 'no image has one' --objective nca plain
mkdir -p one-class/a one-class/b
cp $(ls set/*/* | head -9) one-class/a
ls one-class/a | sed 's|.*|a/&,x|' >same.csv
refused 2 'of one class' --objective nca --labels same.csv one-class
refused 2 "have one class, 'a': give a folder with folders for at least two" --objective nca one-class
refused 2 'no image has one' --objective nca one-class/a
sed 's/,.*/,-3/' same.csv >negative.csv
refused 2 "label '-3' is a negative number" --objective nca --labels negative.csv one-class
refused 2 'must not exceed its layer' --objective dt-nca --hidden 4 -k 5 "$images"
refused 6 'never.tpm: model can take' --objective dt-nca $quick --max-work 10 "$images" # before it learns
# 64 inputs, 40 hidden units, 6 units: 64 + 64 * 40 + 40 + 40 * 6 + 6 weights, known before it learns
refused 6 'never.tpm: model has 2910 weights, more than the limit of 11639 bytes' --objective dt-nca $quick \
    --max-model 11639 --log never.jsonl "$images"
test ! -s never.jsonl
"$TAPER" train-labels -q -o fits.tpm --objective dt-nca $quick -e 1 --max-model 11640 --reconstruct 0.1 --free-units 3 \
    --start random "$images"
refused 6 'model has 324 weights' --objective nca -k 4 --max-model 1295 "$images"
refused 2 'rise from 1 to all 6 units' --objective dt-nca $quick --nested 3,2 "$images"
refused 2 'rise from 1 to all 6 units' --objective dt-nca $quick --nested 8 "$images"
refused 2 'none are learned' --objective dt-nca $quick --nested 2 --degrees learned "$images"
refused 2 "unknown option '--family'" --objective nca --family dense "$images"
cp -r set mixed
printf 'P5\n5 9\n255\n%045d' 0 >mixed/lying/odd.pgm
refused 2 'several: leave it out, and they are scaled' --objective nca --window whole mixed
"$TAPER" train-labels -o sized.tpm --objective nca -k 4 -e 1 mixed 2>said
grep -q 'images are scaled to 32 x 32 pixels' said
"$TAPER" train-labels -q -o eight.tpm --objective nca -k 4 -e 1 --window 8 mixed
"$TAPER" embed -q -m eight.tpm -o mixed.csv mixed
test "$(grep -c '' mixed.csv)" -eq 362
"$TAPER" info eight.tpm | grep -q '8x8\|8 x 8'
refused 2 'for a linear map' --objective dt-nca --start lda "$images"
refused 2 'with hidden layers' --objective nca --start rbm "$images"
refused 2 '--degrees is' --objective dt-nca --degrees none "$images"
code=0
"$TAPER" train-labels -q -o idle.tpm --objective nca -k 4 -e 1 --degrees 2 "$images" 2>err || code=$?
test $code -eq 0
grep -q 'without effect here' err

# --- few labels: the other images are reconstructed; free units are no part of the model ---
awk 'BEGIN { print "name,label" } { split($0, part, "/"); print $0 "," (/10[1-9]/ ? part[2] : "") }' list >few.csv
few="--objective dt-nca --start random --hidden 40 -k 6 -e 5 --rate 0.01 --hold-out 0 --labels few.csv"
"$TAPER" train-labels -o plain.tpm $few --filelist list 2>words
grep -q 'images without a label are not learned from' words
"$TAPER" train-labels -o both.tpm $few --reconstruct 0.05 --free-units 3 --filelist list 2>words
grep -q 'images without a label are reconstructed, too' words
"$TAPER" train-labels -q -o again.tpm $few --reconstruct 0.05 --free-units 3 -T 3 --filelist list
cmp both.tpm again.tpm
"$TAPER" info --json both.tpm | grep -q '"units":6'
not cmp -s both.tpm plain.tpm
grep 10 list >labelled
"$TAPER" train-labels -q -o fewer.tpm $few --reconstruct 0.05 --free-units 3 --filelist labelled
not cmp -s both.tpm fewer.tpm
for bad in "--free-units 3" "--reconstruct 1.5" "--reconstruct -0.1"; do
    not "$TAPER" train-labels -q -o bad.tpm $few $bad --filelist list 2>words
    test ! -e bad.tpm
done

# --- few labels: the other images get a guess; a teacher's layers are the start ---
wrong() { # MODEL: by the neighbours of all images, whose folders say the class
    "$TAPER" classify -q -m "$1" --leave-one-out --among "$images" --json 2>/dev/null | tail -1 |
        json_number wrong
}
few="--objective dt-nca --hidden 40 -k 6 -e 5 --rate 0.01 --hold-out 0.2 --labels few.csv"
"$TAPER" train-labels --json -o guessed.tpm $few --guess-labels --filelist list >guessed.json 2>words
grep -q 'images without a label are learned from by a guess' words
labelled=$(grep -c ',[a-z]' few.csv)
grep -q "\"labelled\":$((labelled - 1)),\"guessed\":$((301 - labelled))" guessed.json # the head has a comma, too
"$TAPER" train-labels -q -f -o again.tpm $few --guess-labels --start taught -T 3 --filelist list # auto is taught here
cmp guessed.tpm again.tpm
"$TAPER" train-labels -q -f -o fewer.tpm $few --start random --filelist list
test "$(wrong guessed.tpm)" -lt "$(wrong fewer.tpm)"
"$TAPER" train-labels -q -f -o taught.tpm --objective dt-nca --hidden 40 -k 6 -e 2 --start taught "$images"
"$TAPER" train-labels -q -f -o again.tpm --objective dt-nca --hidden 40 -k 6 -e 2 --start taught --rate 0.0004 "$images" # by default
cmp taught.tpm again.tpm
"$TAPER" train-labels -q -f -o drawn.tpm --objective dt-nca --hidden 40 -k 6 -e 2 --start random "$images"
test $((2 * $(wrong taught.tpm))) -lt "$(wrong drawn.tpm)"
"$TAPER" train-labels -q -f -o alone.tpm --objective dt-nca --hidden 40 -k 6 -e 2 --start taught --teacher-reach 0 \
    --teacher-epochs 40 "$images"
test "$(wrong alone.tpm)" -lt "$(wrong drawn.tpm)"
"$TAPER" train-labels -o idle.tpm -f --objective dt-nca --hidden 40 -k 6 -e 1 --start random --teacher-epochs 9 "$images" 2>err
grep -q -e '--teacher-epochs' err
refused 2 'hidden layers: give --hidden' --objective nca --guess-labels "$images"
refused 2 'hidden layers: give --hidden' --objective nca --start taught "$images"
