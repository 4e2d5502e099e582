#!/bin/sh
# mutants.sh -- are the tests of the GPU's kernels worth anything? Each barrier left out and each bound
# widened by one, one at a time, must make a test fail.
#
#   sh tests/mutants.sh BUILD_DIR [EVERY]     EVERY: each EVERY-th site alone, for a sample
#
# BUILD_DIR/tests/test_kernels_* run the kernels on the execution model (tests/cuda/cuda_runtime.h),
# which leaves out the barrier, or widens the bound, that TAPER_MODEL_MUTANT names: nothing is built
# again. First each test function of theirs runs alone, as it is: it must pass, and notes its time and
# the sites that it meets ("kind file:line.number"). Then each site is tried with the functions that
# meet it, the quickest first, until one fails. A crash counts, and so does no end after MUTANT_TIMEOUT
# seconds (default 120).
#
# BUILD_DIR/mutants keeps what came out: run again with the same programs, it goes on where it stopped.
# Prints each site that no function noticed, and at the end "N mutants, N survivors". Exit code 0:
# there is no survivor; 1: there is; 2: the programs are missing, or fail as they are. Two run at a
# time. Price: five minutes on two cores.

WORK=${1-}/mutants
[ "${1-}" != --job ] || WORK=$MUTANTS

# Test function $2 of program $1, alone.
one_test() {
    TAPER_TEST=$2 ASAN_OPTIONS=symbolize=0:detect_leaks=0 UBSAN_OPTIONS=symbolize=0 \
        timeout "$MUTANT_TIMEOUT" "$WORK/$1" </dev/null
}

# ----- one function as it is, or one mutant: `mutants.sh --job FUNCTION` or `--job NUMBER` ------------

if [ "${1-}" = --job ]; then
    case $2 in
    test_*)
        program=${2%.*} function=${2##*.}
        begin=$(date +%s%N)
        TAPER_MODEL_SITES=$WORK/new.$2 one_test "$program" "$function" >"$WORK/out.$2" 2>&1 &&
            grep -q '1 test(s) run' "$WORK/out.$2" ||
            { tail -n 20 "$WORK/out.$2" >&2; echo "$program: $function fails as it is" >&2; exit 255; }
        : >>"$WORK/new.$2"
        echo "$((($(date +%s%N) - begin) / 1000000)) $program $function" >"$WORK/time.$2"
        mv "$WORK/new.$2" "$WORK/met.$2"
        ;;
    *)
        site=$(sed -n "${2}p" "$WORK/sites")
        ! grep -qxF -- "$site" "$WORK/killed" "$WORK/survived" 2>/dev/null || exit 0
        while read -r _ program function; do
            grep -qxF -- "$site" "$WORK/met.$program.$function" || continue
            TAPER_MODEL_MUTANT=$site one_test "$program" "$function" >/dev/null 2>&1 ||
                { echo "$site" >>"$WORK/killed"; exit 0; }
        done <"$WORK/functions"
        echo "$site" >>"$WORK/survived"
        ;;
    esac
    exit 0
fi

# ----- the main part: find the sites, try each, sum up ----------------------------------------------

every=${2-1}
[ $# -ge 1 ] && [ -d "$1" ] && [ "$every" -ge 1 ] 2>/dev/null ||
    { echo "usage: sh tests/mutants.sh BUILD_DIR [EVERY]" >&2; exit 2; }
B=$(cd "$1" && pwd) ROOT=$(cd "$(dirname "$0")/.." && pwd)
MUTANTS=$B/mutants MUTANT_TIMEOUT=${MUTANT_TIMEOUT:-120} WORK=$B/mutants LC_ALL=C
unset TAPER_MODEL_MUTANT TAPER_MODEL_SITES TAPER_TEST
export MUTANTS MUTANT_TIMEOUT LC_ALL
cd "$ROOT" || exit 2
two_at_a_time() { xargs -n 1 -P 2 sh "$ROOT/tests/mutants.sh" --job; }

functions= programs=
for source in tests/test_kernels_*.c; do
    program=$(basename "$source" .c)
    [ -x "$B/tests/$program" ] || { echo "$B/tests/$program is missing" >&2; exit 2; }
    programs="$programs $program"
    included=tests/$(sed -n 's/^#include "\(test_device.*\.c\)"/\1/p' "$source")
    [ -f "$included" ] || included=
    # shellcheck disable=SC2086
    for name in $(grep -oh 'cmocka_unit_test[a-z_]*([a-z_0-9]*' "$source" $included | sed 's/.*(//'); do
        functions="$functions $program.$name"
    done
done

# A copy, so that a build in the meantime does no harm. Results of another program are dropped.
mkdir -p "$WORK" || exit 2
if ! cmp -s "$B/tests/all_kernels" "$WORK/all_kernels"; then
    rm -f "$WORK"/*.test_kernels_* "$WORK/killed" "$WORK/survived"
    cp "$B/tests/all_kernels" "$WORK" || exit 2
fi
for program in $programs; do ln -sf all_kernels "$WORK/$program" || exit 2; done
for name in $functions; do # a new one may notice what no other has
    [ -f "$WORK/met.$name" ] || { rm -f "$WORK/survived"; echo "$name"; }
done | MUTANT_TIMEOUT=1200 two_at_a_time || exit 2
cat "$WORK"/time.* | sort -n >"$WORK/functions"
cat "$WORK"/met.* | sort -u | awk -v every="$every" 'NR % every == 1 || every == 1' >"$WORK/sites"
[ -s "$WORK/sites" ] || { echo "no site is met" >&2; exit 2; }
awk '{ print NR }' "$WORK/sites" | two_at_a_time || exit 2
: >>"$WORK/survived"
grep -xF -f "$WORK/sites" "$WORK/survived" >"$WORK/survivors"
sed 's/^/survives: /' "$WORK/survivors"
echo "$(($(wc -l <"$WORK/sites"))) mutants, $(($(wc -l <"$WORK/survivors"))) survivors"
[ ! -s "$WORK/survivors" ]
