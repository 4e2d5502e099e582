#!/bin/sh
# run.sh -- one piece of what only a GPU can show, of at most nine minutes, from a bare machine.
#
#   sh bench/gpu/run.sh check                     every operation, every learner: `make check-gpu`
#   DATA=FOLDER sh bench/gpu/run.sh quality       codes of 1,024 bits of CIFAR-10: time, and errors on test images
#   DATA=FOLDER sh bench/gpu/run.sh step          epochs of that network at batch 10,000, by precision: ms a step
#   DATA=FOLDER sh bench/gpu/run.sh deep          the paper's deep network, resumed where the last piece left it
#
# DATA holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin. OUT (build/gpu-out) takes what is brought back. JSON
# lines come last; every piece can be run again.
set -eu
cd "$(dirname "$0")/../.."
OUT=${OUT:-build/gpu-out}
mkdir -p "$OUT"
make -s CUDA=1 CUDA_ARCH="${CUDA_ARCH:-90}" build/opt-cuda/taper >&2
taper=build/opt-cuda/taper
"$taper" --version -v | grep '^cuda' >&2
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
machine=$("$taper" --version -v | sed -n 's/^cuda:0: //p')

say() { # bench, metric, value, unit, config
    printf '{"bench":"%s","metric":"%s","value":%s,"unit":"%s","config":{%s},"commit":"%s","machine":"%s","command":"%s"}\n' \
        "$1" "$2" "$3" "$4" "$5" "$commit" "$machine" "sh bench/gpu/run.sh $piece"
}
train() { # model, options...
    model=$1
    shift
    timeout 520 "$taper" train -q -f --device cuda -w whole --family dense -o "$model" "$@" "$DATA"/data_batch_[1-5].bin
}
now() { date +%s.%N; }
since() { echo "$(now) $1" | awk '{ printf "%.2f", $1 - $2 }'; }

piece=${1:-}
case $piece in
check)
    REQUIRE=cuda make -s CUDA_ARCH="${CUDA_ARCH:-90}" check-gpu | tail -n 40
    ;;
quality)
    for precision in float32 tf32 bf16; do
        begin=$(now)
        train "$OUT/binary-$precision.tpm" --code binary --untied --units 1024 --truncation power:0.5,0.3 --epochs 10 \
            --batch 250 --precision $precision --log "$OUT/binary-$precision.jsonl"
        say speed/time-to-quality seconds "$(since "$begin")" s "\"network\":\"3072-1024-3072\",\"precision\":\"$precision\""
        "$taper" compare --json -m "$OUT/binary-$precision.tpm" "$DATA/test_batch.bin" >"$OUT/binary-$precision.compare"
    done
    ;;
step)
    for precision in float32 tf32 bf16; do
        log=$OUT/step-$precision.jsonl
        rm -f "$log"
        train "$OUT/step.tpm" --code units --untied --units 1024 --epochs 12 --batch 10000 --precision $precision --log "$log"
        python3 - "$log" <<'END' >"$OUT/step.ms"
import json, sys
seconds = sorted(json.loads(line)["seconds"] for line in open(sys.argv[1]))
steps = 5  # of 10,000 in 48,000 or so images
times = [b - a for a, b in zip(seconds, seconds[1:])]
print(f"{1e3 * sorted(times)[len(times) // 2] / steps:.3f}")
END
        say speed/train-step median "$(cat "$OUT/step.ms")" ms "\"network\":\"3072-1024-3072\",\"batch\":10000,\"precision\":\"$precision\""
    done
    ;;
deep)
    TRAIN="$(echo "$DATA"/data_batch_[1-5].bin)" TEST="$DATA/test_batch.bin" OUT="$OUT/deep" \
        timeout 520 sh bench/gpu/deep_nested.sh build/opt-cuda || echo "deep: goes on with the next piece" >&2
    ;;
*)
    echo "usage: sh bench/gpu/run.sh check|quality|step|deep" >&2
    exit 2
    ;;
esac
