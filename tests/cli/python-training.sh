# samples/train_cifar.py: the network learns from one container at several fidelities, and a lower one reads fewer bytes.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/python_helpers.sh"
python_needs torch
"$SAMPLES" small drawn --count 900 --format cifar >/dev/null
"$TAPER" encode -q -m tiny --group 50 --drawings lossy -o train.taper drawn/cifar/train.bin
"$TAPER" encode -q --lossless -o test.taper drawn/cifar/test.bin
example="$PYTHON $ROOT/samples/train_cifar.py train.taper test.taper"
$example --epochs 12 --fidelity 40 90 40,40,40,90 --json >found
cat found
$example --epochs 1 --fidelity whole >table
cat table
test "$(wc -l <table)" -eq 2
cat >check.py <<'END'
import json
import sys
least, more, mixed = map(json.loads, sys.stdin)
assert min(more["accuracy"], more["as_trained"]) > 40, more  # of ten classes
assert 20 < least["bytes"] <= 40 < mixed["bytes"] <= 52.5 < more["bytes"] <= 90
END
$PYTHON check.py <found
test "$(awk 'END { print ($2 > 300) }' table)" -eq 1

# the benchmark: files, cuts and fidelities that change, from images of the same kind; a second call repeats what is known
"$SAMPLES" small more --count 660 --format cifar >/dev/null
mkdir data
split -b $((3073 * 110)) -a 1 --numeric-suffixes=1 more/cifar/train.bin data/part
for k in 1 2 3 4 5; do mv data/part$k data/data_batch_$k.bin; done
cp drawn/cifar/test.bin data/test_batch.bin
bench() {
    $PYTHON "$ROOT/bench/train_cifar.py" "$TAPER" data --epochs 2 --seeds 2 --ways "taper whole" "taper 80" "taper 40,80" \
        "jpeg420 10,50" "webp 50"
}
bench >lines
mv build/train-cifar/done.jsonl before
cp before build/train-cifar/done.jsonl
bench >again
cmp before build/train-cifar/done.jsonl
cmp lines again
cat >check.py <<'END'
import json
import sys
found = {(line["config"]["way"], line["metric"], line["config"]["seed"]): line["value"] for line in map(json.loads, sys.stdin)}
assert found["taper 80", "bytes", "any"] == 80 and found["taper 40,80", "bytes", "any"] == 60
assert 200 < found["jpeg420 10,50", "bytes", "any"] - found["jpeg420 10,50", "payload", "any"] < 400  # headers
assert 22 < found["taper 80", "psnr", "any"] < found["taper whole", "psnr", "any"]
assert all((way, metric, 1) in found for way, metric, _ in found if metric in ("accuracy", "as_trained"))
END
$PYTHON check.py <lines
