#!/bin/sh
# run.sh -- one piece of what only a GPU can show, of at most nine minutes, from a bare machine.
#
#   sh bench/gpu/run.sh check                every operation, every learner: `make check-gpu`
#   sh bench/gpu/run.sh matmul               the bare products of a step, at cuBLASLt's fastest; the copy bandwidth
#   DATA=FOLDER sh bench/gpu/run.sh step     ms a step of both networks at batch 10,000, by precision, and over `matmul`; the
#                                            host's part of it, also at batch 250, where CUDA graphs might gain
#   sh bench/gpu/run.sh pytorch              the same step in PyTorch: eager, torch.compile, CUDA graphs
#   sh bench/gpu/run.sh kernels              each operation of that step: ms, GB/s, registers
#   DATA=FOLDER sh bench/gpu/run.sh quality  codes of 1,024 bits of CIFAR-10: seconds, and errors on test images
#   PHOTOS=FOLDER sh bench/gpu/run.sh photo  the networks of models/photo.tpm from nothing: seconds, held-out bytes
#   DATA=FOLDER sh bench/gpu/run.sh training bench_training on the GPU: codes of planes, over its products; models at once
#   DATA=FOLDER sh bench/gpu/run.sh processes   seconds an epoch of 1, 2, 4 and 8 processes of MPI, each with a GPU as far as
#                                            there are as many; whether sums by NCCL have the bits of those through the host
#   DATA=FOLDER sh bench/gpu/run.sh coding   what starting the GPU costs, which a backend for coding would have to earn
#   DATA=FOLDER sh bench/gpu/run.sh deep     the paper's deep network
#
# DATA holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin, PHOTOS photographs. OUT (build/gpu-out) takes what
# is brought back. MORE is more options for `taper train` (quality, photo), PRECISIONS some of float32, tf32, bf16,
# PYTHON one with torch (python3). JSON lines come last; every piece can be run again, `photo` and `deep` go on where
# they stopped. What cannot run is named in a line "skip: ..."; REQUIRE=cuda makes that a failure.
#
# For tests: TAPER, a program that is there already and is not built then, and BENCH, the folder of bench_kernels and
# bench_lengths; DEVICE (cuda) for `taper train`; QUICK=1, tiny networks.
set -eu
cd "$(dirname "$0")/../.."
piece=${1:-} OUT=${OUT:-build/gpu-out} DEVICE=${DEVICE:-cuda} QUICK=${QUICK:-} B=build/opt-cuda
taper=${TAPER:-$B/taper} bench=${BENCH:-$B/bench}

say() { # bench, metric, value, unit, config
    printf '{"bench":"%s","metric":"%s","value":%s,"unit":"%s","config":{"device":"%s",%s},"commit":"%s","machine":"%s","command":"%s"}\n' \
        "$1" "$2" "$3" "$4" "$BENCH_DEVICE" "$5" "$TAPER_COMMIT" "$TAPER_MACHINE" "sh bench/gpu/run.sh $piece"
}
fail() { echo "$piece: $*" >&2; exit 1; }
skip() {
    case "${REQUIRE:-}" in *cuda*) fail "$*" ;; esac
    echo "skip: $piece: $*"
    exit 0
}
need() { # folder, files...
    folder=$1
    shift
    for file in "$@"; do [ -e "$folder/$file" ] || fail "$folder has no $file"; done
}
figures() { python3 bench/gpu/figures.py "$@"; }
now() { date +%s.%N; }
since() { echo "$(now) $1" | awk '{ printf "%.2f\n", $1 - $2 }'; }
train() { verb=$1; shift; timeout 520 "$taper" "$verb" -q -f --device "$DEVICE" "$@"; }
build() {
    [ -z "${TAPER:-}" ] || return 0
    command -v nvcc >/dev/null || skip "nvcc is not installed"
    make -s CUDA=1 CUDA_ARCH="${CUDA_ARCH:-90}" "$@" >&2
}

# ----- what is there ---------------------------------------------------------------------------------

case $piece in
check | matmul | pytorch | kernels) ;;
step | quality | training | coding | deep | processes)
    [ -n "${DATA:-}" ] || skip "DATA is not set"
    need "$DATA" data_batch_1.bin data_batch_2.bin data_batch_3.bin data_batch_4.bin data_batch_5.bin test_batch.bin
    ;;
photo)
    [ -n "${PHOTOS:-}" ] || skip "PHOTOS is not set"
    [ -d "$PHOTOS" ] || fail "$PHOTOS is no folder"
    ;;
*) echo "usage: sh bench/gpu/run.sh check|matmul|step|pytorch|kernels|quality|photo|training|coding|deep|processes" >&2; exit 2 ;;
esac
build "$B/taper"
gpu=$("$taper" --version -v 2>/dev/null | sed -n 's/^cuda:0: //p')
[ -n "$gpu" ] || [ "$DEVICE" != cuda ] || skip "no GPU that can be used"
mkdir -p "$OUT"
TAPER_MACHINE=${gpu:-this processor}
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
BENCH_DEVICE=$(echo "$TAPER_MACHINE" | tr '[:upper:]' '[:lower:]' | sed 's/^nvidia //; s/execution model/host-model/; s/[ ,].*//')
export TAPER_MACHINE TAPER_COMMIT BENCH_DEVICE # "NVIDIA H200, ..." is h200

precisions=${PRECISIONS:-float32 tf32 bf16} batch=10000 few=250 epochs=12 bits='64 256 1024' side=160 some=1000
width=1024 shared=2000 window=whole
shallow=3072-1024-3072 units=1024 deep=3072-2048-1024-512-1024-2048-3072 hidden=2048,1024 code=512
quality='--units 1024 --truncation power:0.5,0.3 --epochs 10 --batch 250'
photo='--window 16 --predict-epochs 48 --conditional 64 --head 64 --restore-steps 8000' # as models/train.sh
if [ -n "$QUICK" ]; then
    precisions=bf16 batch=20 few=10 epochs=2 bits='2 6' side=2 some=2 quality='--units 6 --epochs 1 --batch 40'
    width=6 shared=20 window=8
    shallow=3072-6-3072 units=6 deep=3072-8-6-4-6-8-3072 hidden=8,6 code=4
    photo='--window 8 --units 12 --predict-epochs 1 --conditional 8 --head 8 --restore 8 --restore-steps 1'
fi

# ----- the pieces --------------------------------------------------------------------------------------

# A step, and the host's part of it: until it is on the stream. step NETWORK PRECISION BATCH OPTIONS...
step() {
    config="\"network\":\"$1\",\"batch\":$3,\"precision\":\"$2\"" network=$1 precision=$2 rows=$3
    shift 3
    rm -f "$OUT/step.log"
    train train-bits -w whole --code units --untied --batch "$rows" --precision "$precision" --epochs $epochs \
        --log "$OUT/step.log" -o "$OUT/step.tpm" "$@" "$DATA"/data_batch_[1-5].bin
    figures step "$OUT/step.log" >"$OUT/step.ms"
    { read -r ms && read -r host; } <"$OUT/step.ms"
    say speed/train-step step "$ms" ms "$config"
    say speed/train-step "host ms a step" "$host" ms "$config"
    [ "$rows" = $batch ] || return 0
    for than in matmul:sum pytorch:best; do
        [ -f "$OUT/${than%:*}.jsonl" ] || continue
        least=$(figures value "$OUT/${than%:*}.jsonl" "${than#*:}" "$precision" "$network")
        [ -z "$least" ] || say speed/train-step "step over ${than%:*}" \
            "$(echo "$ms $least" | awk '{ printf "%.4f", $1 / $2 }')" x "$config"
    done
}

# An epoch of COUNT processes on a DEVICE: processes COUNT DEVICE. The model is OUT/DEVICE-COUNT.tpm.
processes() {
    run="$OUT/$2-$1"
    rm -f "$run.log"
    timeout 120 mpirun -n "$1" --oversubscribe --bind-to none "$taper" train -v -f --device "$2" --family dense -w "$window" \
        --units "$width" --hidden "$width" --batch $shared --epochs $epochs --log "$run.log" -o "$run.tpm" \
        "$DATA"/data_batch_[1-5].bin >"$run.said" 2>&1 || { cat "$run.said" >&2; fail "$1 processes"; }
    by=none
    ! grep -q 'through the host' "$run.said" || by=host
    ! grep -q 'add up by NCCL' "$run.said" || by=nccl
    config="\"processes\":$1,\"gpus\":$gpus,\"on\":\"$2\",\"sums\":\"$by\",\"batch\":$shared,\"units\":$width"
    say speed/processes epoch "$(figures epoch "$run.log")" s "$config"
}

# After a command under timeout, which the same piece, run again, goes on with.
goes_on() { # its exit code
    [ "$1" -ne 124 ] || { echo "$piece: goes on with the next piece" >&2; exit 0; }
    [ "$1" -eq 0 ] || exit "$1"
}

# Seconds of these windows, one command after the other: seconds_of EPOCHS WINDOWS...
seconds_of() {
    n=$1 begin=$(now)
    shift
    for window in "$@"; do
        train train-bits -w "$window" --code units --units $units --set-images 1000000 --epochs "$n" \
            -o "$OUT/side.tpm" "$OUT/some.bin"
    done
    since "$begin"
}
# What models that learn at once gain: the windows of `--window auto` one after the other over all at once, of so many
# epochs less half of them, so that starting, reading and calibrating are not in it.
side_by_side() {
    echo "$(seconds_of $side 8 16 whole) $(seconds_of $((side / 2)) 8 16 whole)" \
        "$(seconds_of $side auto) $(seconds_of $((side / 2)) auto)" |
        awk '{ print ($3 > $4 ? ($1 - $2) / ($3 - $4) : "null") }'
}

case $piece in
check)
    REQUIRE=cuda make -s CUDA=1 CUDA_ARCH="${CUDA_ARCH:-90}" check-gpu | tail -n 40
    ;;
matmul)
    build $B/bench/gpu/matmul
    [ -x "$bench/gpu/matmul" ] || skip "it is not built here"
    "$bench/gpu/matmul" >"$OUT/matmul.jsonl"
    cat "$OUT/matmul.jsonl"
    ;;
step)
    build $B/bench/gpu/matmul
    [ ! -x "$bench/gpu/matmul" ] || "$bench/gpu/matmul" >"$OUT/matmul.jsonl"
    for precision in $precisions; do
        step $shallow "$precision" $batch --units $units
        step $shallow "$precision" $few --units $units
        step $deep "$precision" $batch --hidden $hidden --units $code
    done
    ;;
pytorch)
    toy=
    [ -z "$QUICK" ] || toy='--device cpu --batch 8 --widths 48,16 48,24,8 --steps 3'
    # shellcheck disable=SC2086
    timeout 530 "${PYTHON:-python3}" bench/gpu/pytorch_step.py $toy >"$OUT/pytorch.jsonl" || echo "skip: pytorch: what did not end in time"
    cat "$OUT/pytorch.jsonl"
    ;;
kernels)
    build $B/bench/bench_kernels
    # shellcheck disable=SC2046
    "$bench/bench_kernels" "$DEVICE" $([ -z "$QUICK" ] || echo 40 48 32 1) >"$OUT/kernels.jsonl"
    figures ptxas "$(dirname "$bench")" >>"$OUT/kernels.jsonl"
    cat "$OUT/kernels.jsonl"
    ;;
quality)
    build $B/bench/bench_lengths
    for precision in $precisions; do
        begin=$(now)
        # shellcheck disable=SC2086
        train train-bits -w whole --untied $quality --precision $precision ${MORE:-} \
            --log "$OUT/binary-$precision.jsonl" -o "$OUT/binary-$precision.tpm" "$DATA"/data_batch_[1-5].bin
        config="\"network\":\"$shallow\",\"precision\":\"$precision\""
        say speed/time-to-quality seconds "$(since "$begin")" s "$config"
        # shellcheck disable=SC2086
        "$bench/bench_lengths" "$OUT/binary-$precision.tpm" "$DATA/test_batch.bin" $bits |
            sed "s/\"bits\"/\"precision\":\"$precision\",\"bits\"/"
    done
    ;;
photo)
    begin=$(now) code=0
    # shellcheck disable=SC2086
    train train --json --family conv --seed 1 $photo ${MORE:-} --checkpoint "$OUT/photo.chk" --resume --log "$OUT/photo.log" \
        -o "$OUT/photo.tpm" "$PHOTOS" >"$OUT/photo.json" || code=$?
    since "$begin" >>"$OUT/photo.seconds"
    goes_on $code
    config='"network":"photo","precision":"float32"'
    say speed/time-to-quality seconds "$(awk '{ all += $1 } END { print all }' "$OUT/photo.seconds")" s "$config"
    say speed/time-to-quality "held-out bytes at 30 dB" "$(figures bytes "$OUT/photo.json" 30)" B "$config"
    ;;
training)
    build $B/bench/bench_training
    "$bench/bench_training" 0 10000 "$DEVICE" | tee "$OUT/training.jsonl"
    head -c $((3073 * some)) "$DATA/test_batch.bin" >"$OUT/some.bin"
    say speed/side-by-side "one after the other over at once" "$(side_by_side)" x '"windows":"8, 16, 32","precision":"float32"'
    ;;
processes)
    command -v mpirun >/dev/null || skip "mpirun is not installed"
    [ -e "$(dirname "$taper")/taper-mpi.so" ] || build MPI=1 "$B/taper-mpi.so"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    gpus=$("$taper" --version -v | grep -c '^cuda:[0-9]')
    for n in 1 2 4 8; do
        [ "$n" -le 2 ] || [ "$n" -le "$gpus" ] || continue
        processes $n "$DEVICE"
    done
    [ "$gpus" -ge 2 ] || exit 0
    processes 2 "$DEVICE:0" # both on one GPU, and so through the host
    same=0
    cmp -s "$OUT/$DEVICE-2.tpm" "$OUT/$DEVICE:0-2.tpm" || same=1
    say speed/processes "models that differ, sums by NCCL and the host" $same 1 "\"processes\":2,\"gpus\":$gpus"
    ;;
coding) # components of the same few images, on the processor and on the device
    head -c 3073000 "$DATA/test_batch.bin" >"$OUT/few.bin"
    for run in 1 2 3; do
        for on in cpu "$DEVICE"; do
            begin=$(now)
            "$taper" train -q -f --device "$on" --family pca -w 8 --units 8 --basis principal -o "$OUT/few.tpm" "$OUT/few.bin"
            say coding/start seconds "$(since "$begin")" s "\"on\":\"$on\",\"run\":$run"
        done
    done
    ;;
deep)
    code=0
    TRAIN="$(echo "$DATA"/data_batch_[1-5].bin)" TEST="$DATA/test_batch.bin" OUT="$OUT/deep" \
        timeout 520 sh bench/gpu/deep_nested.sh "$(dirname "$taper")" || code=$?
    goes_on $code
    ;;
esac
