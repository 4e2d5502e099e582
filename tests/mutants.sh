#!/bin/sh
# mutants.sh -- are the tests of the GPU's kernels worth anything? Each barrier left out and each bound
# widened by one, one at a time, must make a test fail.
#
#   sh tests/mutants.sh BUILD_DIR [EVERY]     EVERY: each EVERY-th site alone, for a sample
#
# BUILD_DIR/tests/test_kernels_* run the kernels on the execution model (train/cuda/model/cuda_model.h),
# which leaves out the barrier, or widens the bound, that TAPER_MODEL_MUTANT names: nothing is built
# again. First all of them run as they are, must pass, and note the sites that they meet ("kind
# file:line.number"); then each site is tried with the programs that meet it, until one fails. A crash
# counts, and so does no end after MUTANT_TIMEOUT seconds (default 120).
#
# Prints a line for each site that no program noticed, and at the end "N mutants, N survivors". Exit
# code 0: there is no survivor; 1: there is; 2: the programs are missing, or fail as they are. Two run at
# a time. Price: up to a run of the programs, some ten seconds, for each of some two hundred sites; about
# ten minutes on two cores.

# ----- one mutant: `mutants.sh --job NUMBER`, started by the main part below ------------------------

if [ "${1-}" = --job ]; then
    site=$(sed -n "${2}p" "$WORK/sites")
    for program in "$B"/tests/test_kernels_*; do
        met=$WORK/met.${program##*/}
        grep -qxF -- "$site" "$met" 2>/dev/null || continue
        TAPER_MODEL_MUTANT=$site timeout "$MUTANT_TIMEOUT" "$program" >/dev/null 2>&1 || exit 0
    done
    echo "survives: $site" | tee "$WORK/$2.survivor"
    exit 0
fi

# ----- the main part: find the sites, try each, sum up ----------------------------------------------

every=${2-1}
[ $# -ge 1 ] && [ -d "$1" ] && [ "$every" -ge 1 ] 2>/dev/null ||
    { echo "usage: sh tests/mutants.sh BUILD_DIR [EVERY]" >&2; exit 2; }
B=$(cd "$1" && pwd) ROOT=$(cd "$(dirname "$0")/.." && pwd) MUTANT_TIMEOUT=${MUTANT_TIMEOUT:-120}
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
unset TAPER_MODEL_MUTANT TAPER_MODEL_SITES
LC_ALL=C
export B WORK MUTANT_TIMEOUT LC_ALL
cd "$ROOT" || exit 2

for source in tests/test_kernels_*.c; do
    name=${source##*/}
    name=${name%.c}
    [ -x "$B/tests/$name" ] || { echo "$B/tests/$name is missing" >&2; exit 2; }
    TAPER_MODEL_SITES=$WORK/met.$name timeout "$MUTANT_TIMEOUT" "$B/tests/$name" >"$WORK/out" 2>&1 ||
        { tail -n 20 "$WORK/out" >&2; echo "$name fails as it is" >&2; exit 2; }
done
cat "$WORK"/met.* 2>/dev/null | sort -u | awk -v every="$every" 'NR % every == 1 || every == 1' >"$WORK/sites"

sites=$(wc -l <"$WORK/sites")
[ "$sites" -gt 0 ] || { echo "no site is met" >&2; exit 2; }
awk '{ print NR }' "$WORK/sites" | xargs -n 1 -P 2 sh "$ROOT/tests/mutants.sh" --job || exit 2
survivors=$(find "$WORK" -name '*.survivor' | wc -l)
echo "$((sites)) mutants, $((survivors)) survivors"
[ "$survivors" -eq 0 ]
