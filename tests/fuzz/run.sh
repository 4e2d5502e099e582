#!/bin/sh
# run.sh -- build every fuzz target with clang's libFuzzer, AddressSanitizer and UBSan, and run each.
#
#   sh tests/fuzz/run.sh SECONDS [NAME...]     for each target (or fuzz_NAME alone): SECONDS on its corpus
#
# What is found new grows under build/fuzz/corpus/NAME and is used again; tests/fuzz/corpus/NAME is only
# read. A crash leaves its input as build/fuzz/NAME-crash-...: mend the code, then add the input, made
# small (`build/fuzz/fuzz_NAME -minimize_crash=1 FILE`), to tests/fuzz/corpus/NAME.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-30}
[ $# -eq 0 ] || shift
command -v clang >/dev/null || { echo "fuzzing needs clang (apt-get install clang)" >&2; exit 2; }
names=$*
[ -n "$names" ] || names=$(for f in tests/fuzz/fuzz_*.c; do f=${f##*/fuzz_}; echo "${f%.c}"; done)

B=build/fuzz
objects=$(for name in $names; do echo "$B/tests/fuzz/fuzz_$name.o"; done)
remote=$B/remote/response.o # of fuzz_response
training="$B/train/optimise/checkpoint.o $B/train/optimise/run.o $B/train/device/device.o" # of fuzz_checkpoint
images=$(for f in formats/*/*.c serve/request/*.c web/zstd/*.c; do echo "$B/${f%.c}.o"; done)
# shellcheck disable=SC2086
make -s B=$B CC=clang CUDA=0 CFLAGS="-O1 -g" \
    SANFLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" \
    $B/internal.a $objects $training $remote $images
libs="$(pkg-config --libs libpng libjpeg zlib libzstd libxxhash) -lm -pthread"
failed=
for name in $names; do
    mkdir -p "$B/corpus/$name"
    # shellcheck disable=SC2086
    clang -fsanitize=fuzzer,address,undefined -o "$B/fuzz_$name" "$B/tests/fuzz/fuzz_$name.o" $training $remote $images $B/internal.a $libs
    printf '%s: ' "$name"
    if "$B/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1500 -max_len=20000 \
        -print_final_stats=1 -artifact_prefix="$B/$name-" "$B/corpus/$name" \
        "tests/fuzz/corpus/$name" >"$B/$name.log" 2>&1; then
        sed -n 's/^stat::number_of_executed_units: */runs /p' "$B/$name.log"
    else
        echo "FAILED; see $B/$name.log"
        tail -n 25 "$B/$name.log"
        failed="$failed $name"
    fi
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
