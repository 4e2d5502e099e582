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
