# bench/gpu/run.sh: its pieces on the execution model, with tiny networks, so that they are known to work before there is
# a GPU; and what they say where there is none.
build=$(dirname "$TAPER")
export OUT="$PWD/out" DATA="$PWD/data" PHOTOS="$PWD/photos/png" TAPER_MODEL_ORDERS=1
mkdir data bench
"$SAMPLES" small drawn --count 40 --format cifar
"$SAMPLES" small photos --count 6 --format png
for i in 1 2 3 4 5; do head -c $((3073 * 32)) drawn/cifar/train.bin >data/data_batch_$i.bin; done
head -c $((3073 * 6)) drawn/cifar/test.bin >data/test_batch.bin
cp "$build/tests/kernels_model" bench/bench_kernels
cp "$build/bench/bench_lengths" bench/bench_lengths
piece() { # name, figures that it must print...
    name=$1
    shift
    (cd "$ROOT" && QUICK=1 TAPER=$build/tests/taper_model BENCH=$OUT/../bench sh bench/gpu/run.sh "$name") >said 2>err ||
        { cat said err; echo "$name: failed"; exit 1; }
    python3 - "$@" <<'END' || { cat said err; echo "$name: other figures"; exit 1; }
import json, sys
records = [json.loads(line) for line in open("said") if not line.startswith("skip: ")]
for record in records:
    assert list(record) == ["bench", "metric", "value", "unit", "config", "commit", "machine", "command"], record
    assert record["config"]["device"] in ("host-model", "cpu"), record
for wanted in sys.argv[1:]:
    bench, metric, unit = wanted.split("/")
    assert any((r["bench"], r["metric"], r["unit"]) == (bench.replace(":", "/"), metric, unit) for r in records), wanted
END
}

piece kernels cuda:kernels/time/ms
# a figure's bytes are those that the model counts
TAPER_MODEL_COUNT=counted bench/bench_kernels cuda 70 48 32 1 >said 2>err
python3 - <<'END'
import json
counted = {}
for line in open("counted"):
    name, size, _ = line.split()
    counted[name] = int(size)
for record in map(json.loads, open("said")):
    name = record["config"]["operation"].split(",")[0]
    assert record["config"]["bytes"] == counted[name], (record, counted[name])
END

# a step over the products of the same run, had there been any
mkdir -p out
echo '{"bench":"speed/matmul","metric":"sum","value":2,"unit":"ms","config":{"network":"3072-6-3072","precision":"bf16"}}' >out/matmul.jsonl
piece step speed:train-step/step/ms 'speed:train-step/host ms a step/ms' 'speed:train-step/step over matmul/x'
python3 - <<'END' # of both networks, of one in small batches, too; the host's part of a step is a part of it
import json
steps = {}
for record in map(json.loads, open("said")):
    config = record["config"]
    steps.setdefault((config["network"], config["batch"]), {})[record["metric"]] = record["value"]
assert len(steps) == 3, steps
for step in steps.values():
    assert 0 < step["host ms a step"] < step["step"], steps
END
piece quality speed:time-to-quality/seconds/s speed:time-to-quality/mse/1
piece photo speed:time-to-quality/seconds/s 'speed:time-to-quality/held-out bytes at 30 dB/B'
piece coding coding:start/seconds/s
printf '#!/bin/sh\n' >bench/bench_training
chmod +x bench/bench_training
piece training 'speed:side-by-side/one after the other over at once/x'
for PYTHON in python3 /usr/bin/python3; do "$PYTHON" -c 'import torch' 2>/dev/null && break; done
export PYTHON
piece pytorch
grep -q '^skip: pytorch: No module' said || grep -q '"speed/pytorch", "metric": "best"' said

# nothing to run on: one line each, and nothing is left behind
export OUT="$PWD/none"
refused() { # exit code, line, piece; settings as they are
    code=0
    (cd "$ROOT" && TAPER=$TAPER sh bench/gpu/run.sh "$3") >said 2>&1 || code=$?
    test $code -eq "$1" || { cat said; echo "$3: exit code $code"; exit 1; }
    test "$(cat said)" = "$2" || { cat said; echo "$3: other words"; exit 1; }
    test ! -e "$OUT"
}
for name in check matmul step pytorch kernels quality photo training coding deep processes; do
    REQUIRE='' refused 0 "skip: $name: no GPU that can be used" $name
    REQUIRE=zsh,cuda refused 1 "$name: no GPU that can be used" $name
done
DATA=$PWD/photos PHOTOS=$PWD/no
refused 1 "step: $DATA has no data_batch_1.bin" step
refused 1 "photo: $PHOTOS is no folder" photo
unset DATA PHOTOS
for name in step quality coding deep processes; do
    REQUIRE='' refused 0 "skip: $name: DATA is not set" $name
done
REQUIRE=cuda refused 1 'photo: PHOTOS is not set' photo
for gone in "$build" '--without nvcc'; do # make check-gpu
    # shellcheck disable=SC2086
    REQUIRE='' sh "$ROOT/tests/gpu.sh" $gone | tail -n 1 | grep -qx '0 passed, 0 failed, 1 skipped'
    # shellcheck disable=SC2086
    if REQUIRE=cuda sh "$ROOT/tests/gpu.sh" $gone >said; then exit 1; fi
    tail -n 1 said | grep -qx '0 passed, 1 failed'
done
