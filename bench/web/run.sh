#!/bin/sh
# run.sh -- size and speed of the WebAssembly build, as JSON lines.
#
#     sh bench/web/run.sh BUILD_DIR CONTAINER...     of the built-in photo model; REPEATS=5
#
# Sizes: as they are, by gzip -9 and by brotli -q 11. Speed: processor seconds of one thread to decode all images of
# each container, the least of REPEATS, natively and in node with SIMD and without, by turns; and the ratio.
set -eu
B=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
if [ ! -x "$B/bench/bench_web" ]; then
    echo "run.sh: $B/bench/bench_web is missing; make it first, and web-package" >&2
    exit 1
fi
web=build/web repeats=${REPEATS:-5}
commit=$(git describe --always --dirty)
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
line() { # metric value unit config
    echo "{\"bench\":\"web\",\"metric\":\"$1\",\"value\":$2,\"unit\":\"$3\",\"config\":{$4},\"commit\":\"$commit\","\
        "\"machine\":\"$machine\",\"command\":\"sh bench/web/run.sh BUILD_DIR CONTAINER...\"}"
}
for module in taper taper-plain; do
    file=$web/$module.wasm
    line size "$(wc -c <"$file")" bytes "\"module\":\"$module\""
    line size_gzip "$(gzip -9 -c "$file" | wc -c)" bytes "\"module\":\"$module\""
    ! command -v brotli >/dev/null || line size_brotli "$(brotli -q 11 -c "$file" | wc -c)" bytes "\"module\":\"$module\""
done
seconds() { sed 's/.*"seconds":\([0-9.]*\).*/\1/'; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b < a ? b : a }'; }
for container; do
    native='' simd='' plain=''
    for _ in $(seq "$repeats"); do
        native=$(least "$native" "$("$B/bench/bench_web" "$container" models/photo.tpm 3 | seconds)")
        simd=$(least "$simd" "$(node bench/web/decode_time.mjs $web/calls.wasm "$container" models/photo.tpm 3 | seconds)")
        plain=$(least "$plain" "$(node bench/web/decode_time.mjs $web/calls-plain.wasm "$container" models/photo.tpm 2 | seconds)")
    done
    config="\"container\":\"${container##*/}\",\"bytes\":$(wc -c <"$container"),\"repeats\":$repeats"
    line native "$native" s "$config"
    line wasm "$simd" s "$config"
    line wasm_over_native "$(awk "BEGIN { print $simd / $native }")" ratio "$config"
    line plain_over_native "$(awk "BEGIN { print $plain / $native }")" ratio "$config"
done
