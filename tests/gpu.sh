#!/bin/sh
# gpu.sh -- what only a GPU can show of the kernels: `make check-gpu` builds what it needs and calls it.
#
#   sh tests/gpu.sh BUILD_DIR      a build with CUDA=1
#   sh tests/gpu.sh --without WHY  there is none
#
# Every operation against its plain definition, on the device; a training of every learner against the
# processor's, step by step; a run that goes on where another device left it; memcheck and racecheck where
# compute-sanitizer is there. Without a device it says so and ends well; REQUIRE=cuda makes that a failure. The last
# line is "N passed, N failed".
skip() { # why
    echo "skip: $1"
    case " $(echo "${REQUIRE:-}" | tr ',' ' ') " in
    *' cuda '*) echo "0 passed, 1 failed" && exit 1 ;;
    esac
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
[ "${1-}" != --without ] || skip "${2-}"
[ $# -eq 1 ] && [ -x "$1/taper" ] || { echo "usage: sh tests/gpu.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
ROOT=$(cd "$(dirname "$0")/.." && pwd)
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

try() { # name, command...
    name=$1
    shift
    if (rm -rf "$work/in" && mkdir "$work/in" && cd "$work/in" && "$@") >"$work/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 30 "$work/out" | sed 's/^/     /'
    fi
}

"$B/taper" --version -v | grep '^cuda'
"$B/taper" --version -v | grep -q '^cuda:0: ' || skip "no GPU that can be used"

for program in "$B"/gpu/tests/test_kernels_*; do
    case $program in *.o | *.d) continue ;; esac
    name=$(basename "$program")
    try "$name" "$program"
    if command -v compute-sanitizer >/dev/null; then
        try "$name, memcheck" compute-sanitizer --tool memcheck --error-exitcode 9 "$program"
        try "$name, racecheck" compute-sanitizer --tool racecheck --error-exitcode 9 "$program"
    fi
done
export TAPER="$B/taper" SAMPLES="$B/make_samples" ROOT KERNELS="$B/taper"
try "learners" sh -e "$ROOT/tests/cli/kernels-train.sh"
try "learners in bfloat16" sh -e "$ROOT/tests/cli/kernels-train-bf16.sh"
try "runs" sh -e "$ROOT/tests/cli/kernels-runs.sh"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
