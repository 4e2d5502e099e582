#!/bin/sh
# run.sh -- runs tests in parallel, one per processor.
#
#   sh tests/run.sh BUILD_DIR [PATTERN]    PATTERN: only tests whose names contain this shell pattern
#
# LIST=1: prints the jobs, as "kind name", and runs none.
#
# TIER: quick (the tests that are marked `quick` in tests/tiers.txt), check (all tests that are not marked
# `all`; the default), all, or rest (what `all` has beyond `check`: the tests marked `all`, those with sanitizers,
# and the kernels, which run in three orders of threads in `all` and `rest`, in one in `check`). With a PATTERN,
# every matching test runs, and TIER only sets the orders.
#
# Kinds of tests:
#   unit     BUILD_DIR/tests/test_X for each tests/test_X.c (cmocka; its test functions are counted)
#   fuzz     BUILD_DIR/tests/fuzz/fuzz_X for each tests/fuzz/fuzz_X.c, on the files of tests/fuzz/corpus/X
#   cli      tests/cli/X.sh, in a temporary folder. TAPER and SAMPLES are the programs, ROOT the repository.
#            Optional files: X.sh.exit (the exit code; default 0), X.sh.stdout.exact, and X.sh.stderr.glob (a
#            shell pattern for all of standard error). A line "SKIP reason" on standard output skips the test.
#   example  the example program of the library, on a new container
#   style    tests/style.sh
#   san-...  unit, fuzz or cli tests with the programs of SAN_BUILD, which are built with sanitizers; in tiers
#            `all` and `rest`, for tests that are marked quick or san
# A test that was not built fails. Environment variables:
#   REQUIRE=cuda,zsh   skips whose name or reason contains one of these words count as failures
#   TEST_TIMEOUT=1800  seconds per test; only ends tests that hang (the slowest takes a twentieth of it)
#   TEST_JOBS=N        number of tests at the same time
# The last line is "N passed, N failed", and ", N skipped" if there are any.

# ----- one job: `run.sh --job NUMBER`, started by the main part below ---------------------------------
# Leaves in $WORK: NUMBER.out (what to show when it failed), NUMBER.count ("passed failed skipped"),
# NUMBER.skips (a line for each skip).

count() { # passed failed skipped
    echo "$1 $2 $3" >"$WORK/$job.count"
    word=ok
    [ "$3" -eq 0 ] || word=skip
    [ "$2" -eq 0 ] || word=FAIL
    times >"$WORK/$job.times"
    printf '%-4s %s %s (%s; %s s of CPU, %s s)\n' "$word" "$kind" "$name" "$(($1 + $2 + $3))" \
        "$(cpu_seconds "$WORK/$job.times")" "$(($(date +%s) - started))"
}

# User and system time of a job's programs, from what `times` printed.
cpu_seconds() { # file
    tail -n 1 "$1" | tr 'ms' '  ' | awk '{ printf "%.1f", 60 * ($1 + $3) + $2 + $4 }'
}

# Does a skip have to be an error?
required() { # line
    for need in $(echo "${REQUIRE:-}" | tr ',' ' '); do
        case $1 in *"$need"*) return 0 ;; esac
    done
    return 1
}

skip() { # reason; the whole job
    if required "$name: $1"; then
        echo "skipped, but REQUIRE=$REQUIRE: $1" >>"$WORK/$job.out"
        count 0 1 0
    else
        echo "$kind $name: $1" >"$WORK/$job.skips"
        count 0 0 1
    fi
}

missing() { # what
    echo "$1 is missing" >"$WORK/$job.out"
    count 0 1 0
}

# cmocka's lines: "Running N test(s)", "[       OK ] f", "[  SKIPPED ] f" (twice: when it happens and in a list
# at the end). What is neither well nor skipped has failed, also what a crash left unrun.
run_unit() {
    program=$B/tests/$name
    [ -x "$program" ] || { missing "$program"; return; }
    (cd "$ROOT" && timeout "$TEST_TIMEOUT" "$program") >"$WORK/$job.out" 2>&1
    code=$?
    out=$WORK/$job.out
    total=$(sed -n 's/.*Running \([0-9][0-9]*\) test.*/\1/p' "$out" | awk '{ n += $1 } END { print n + 0 }')
    passed=$(grep -c '\[       OK \]' "$out")
    grep '^\[  SKIPPED \] [A-Za-z_]' "$out" | sed 's/.*\] //; s/ .*//' | sort -u >"$WORK/$job.skipped"
    skipped=0 forced=0
    while read -r one; do
        reason=$(sed -n 's/^SKIP //p' "$out" | tr '\n' ';' | sed 's/;$//')
        line="$name: $one: ${reason:-gives no reason}"
        if required "$line"; then
            echo "skipped, but REQUIRE=$REQUIRE: $line" >>"$out"
            forced=$((forced + 1))
        else
            echo "unit $line" >>"$WORK/$job.skips"
            skipped=$((skipped + 1))
        fi
    done <"$WORK/$job.skipped"
    failed=$((total - passed - skipped))
    [ "$code" -ne 124 ] || echo "no end after $TEST_TIMEOUT s" >>"$out"
    [ "$code" -eq 0 ] || echo "exit code $code" >>"$out"
    [ "$total" -gt 0 ] || echo "it ran no test" >>"$out"
    if [ "$failed" -le 0 ]; then
        failed=0
        if [ "$code" -ne 0 ] || [ "$total" -eq 0 ]; then failed=1; fi
    fi
    count "$passed" "$failed" "$skipped"
}

run_fuzz() {
    program=$B/tests/fuzz/$name corpus=$ROOT/tests/fuzz/corpus/${name#fuzz_}
    [ -x "$program" ] || { missing "$program"; return; }
    files=$(find "$corpus" -type f 2>/dev/null | wc -l)
    [ "$files" -gt 0 ] || { missing "its corpus, tests/fuzz/corpus/${name#fuzz_},"; return; }
    if timeout "$TEST_TIMEOUT" "$program" "$corpus"/* >"$WORK/$job.out" 2>&1; then
        count 1 0 0
    else
        echo "exit code $?" >>"$WORK/$job.out"
        count 0 1 0
    fi
}

run_cli() {
    script=$ROOT/tests/cli/$name.sh here=$WORK/$job.dir bad=
    out=$WORK/$job.stdout err=$WORK/$job.stderr
    mkdir "$here"
    (cd "$here" && timeout "$TEST_TIMEOUT" sh -eu "$script") >"$out" 2>"$err" </dev/null
    code=$?
    # read-only folders that a test made must not keep us from cleaning up
    chmod -R u+rwX "$here" 2>/dev/null
    rm -rf "$here"
    reason=$(sed -n 's/^SKIP //p' "$out" | head -n 1)
    if [ -n "$reason" ] && [ "$code" -eq 0 ]; then
        skip "$reason"
        return
    fi
    expected=0
    [ ! -f "$script.exit" ] || expected=$(tr -dc '0-9' <"$script.exit")
    [ "$code" -ne 124 ] || [ "$expected" -eq 124 ] || bad="$bad no end after $TEST_TIMEOUT s;"
    [ "$code" -eq "$expected" ] || bad="$bad exit code $code instead of $expected;"
    if [ -f "$script.stdout.exact" ] && ! cmp -s "$out" "$script.stdout.exact"; then
        bad="$bad standard output is not $name.sh.stdout.exact;"
        diff "$script.stdout.exact" "$out" >"$WORK/$job.out"
    fi
    if [ -f "$script.stderr.glob" ]; then
        pattern=$(cat "$script.stderr.glob")
        # shellcheck disable=SC2254  # it is meant as a pattern
        case $(cat "$err") in $pattern) ;; *) bad="$bad standard error is not like $name.sh.stderr.glob;" ;; esac
    fi
    if [ -z "$bad" ]; then
        count 1 0 0
        return
    fi
    { echo "$name:$bad"; echo "--- standard output"; cat "$out"; echo "--- standard error"; cat "$err"; } \
        >>"$WORK/$job.out"
    count 0 1 0
}

run_style() {
    if sh "$ROOT/tests/style.sh" >"$WORK/$job.out" 2>&1; then count 1 0 0; else count 0 1 0; fi
}

# A container of sixty small images for the example program, which is run as `example CONTAINER`.
run_example() {
    here=$WORK/$job.dir
    [ -x "$B/example" ] || { missing "$B/example"; return; }
    mkdir "$here"
    if (set -e
        "$SAMPLES" small "$here" --count 60 --format png
        "$TAPER" train -q -o "$here/model.tpm" "$here/png"
        "$TAPER" encode -q --embed-model -m "$here/model.tpm" -o "$here/set.taper" "$here/png"
        cd "$ROOT"
        timeout "$TEST_TIMEOUT" "$B/example" "$here/set.taper") >"$WORK/$job.out" 2>&1 </dev/null
    then count 1 0 0; else count 0 1 0; fi
    rm -rf "$here"
}

if [ "${1-}" = --job ]; then
    job=$2
    kind=$(sed -n "${job}s/ .*//p" "$WORK/jobs")
    name=$(sed -n "${job}s/^[^ ]* //p" "$WORK/jobs")
    started=$(date +%s) run=${kind#san-}
    [ "$run" = "$kind" ] || B=$SAN_BUILD TAPER=$SAN_BUILD/taper SAMPLES=$SAN_BUILD/make_samples
    "run_$run"
    exit 0
fi

# ----- the main part: list the jobs, run them, sum up --------------------------------------------------

[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: sh tests/run.sh BUILD_DIR [PATTERN]" >&2; exit 2; }
B=$(cd "$1" && pwd) ROOT=$(cd "$(dirname "$0")/.." && pwd) pattern=${2-}
TAPER=$B/taper SAMPLES=$B/make_samples TEST_TIMEOUT=${TEST_TIMEOUT:-1800} TIER=${TIER:-check}
case $TIER in
quick | check) TAPER_MODEL_ORDERS=${TAPER_MODEL_ORDERS:-1} ;;
all | rest) TAPER_MODEL_ORDERS=${TAPER_MODEL_ORDERS:-3} ;;
*) echo "TIER is quick, check, all or rest, not '$TIER'" >&2; exit 2 ;;
esac
[ -z "${SAN_BUILD-}" ] || SAN_BUILD=$(cd "$SAN_BUILD" && pwd) || exit 2
WORK=$(mktemp -d) || exit 2
trap 'chmod -R u+rwX "$WORK" 2>/dev/null; rm -rf "$WORK"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export B ROOT TAPER SAMPLES TEST_TIMEOUT TIER TAPER_MODEL_ORDERS SAN_BUILD WORK
unset NO_COLOR
LC_ALL=C
export LC_ALL

list() { # kind, folder, how the file names begin and end
    for file in "$ROOT/$2/$3"*"$4"; do
        [ -f "$file" ] || continue
        file=${file##*/}
        echo "$1 ${file%"$4"}"
    done
}
# Small tests again with sanitizers, but for those of style and documents, which run no program.
list_sanitized() {
    grep -E '^(quick|san) (unit|fuzz|cli) ' "$ROOT/tests/tiers.txt" | sed 's/^[a-z]* /san-/' | sort -u
}
# Those of the jobs on standard input that are in this tier; with a pattern, all.
in_tier() {
    awk -v tier="$TIER" -v every="$pattern" '
        NR == FNR { if ($1 == "quick" || $1 == "all") mark[$2 " " $3] = $1; next }
        { here = mark[$0] }
        every != "" || tier == "all" { print; next }
        tier == "quick" && here == "quick" { print }
        tier == "check" && here != "all" { print }
        tier == "rest" && (here == "all" || /^unit test_kernels_/ || /^san-/) { print }
    ' "$ROOT/tests/tiers.txt" -
}
{
    list unit tests test_ .c
    list cli tests/cli '' .sh
    list fuzz tests/fuzz fuzz_ .c
    case $TIER in all | rest) [ -z "${SAN_BUILD-}" ] || list_sanitized ;; esac
    [ ! -f "$ROOT/samples/example/example.c" ] || echo "example example"
    echo "style style"
} | in_tier | while read -r kind name; do
    # shellcheck disable=SC2254
    case "$kind $name" in *$pattern*) echo "$kind $name" ;; esac
done >"$WORK/jobs"

[ "${LIST:-0}" = 0 ] || { cat "$WORK/jobs"; exit 0; }
jobs=$(wc -l <"$WORK/jobs")
at_once=${TEST_JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
[ "$jobs" -eq 0 ] || awk '{ print NR }' "$WORK/jobs" | xargs -n 1 -P "$at_once" sh "$ROOT/tests/run.sh" --job

passed=0 failed=0 skipped=0 number=0
while read -r kind name; do
    number=$((number + 1)) p=0 f=1 s=0
    [ ! -f "$WORK/$number.count" ] || read -r p f s <"$WORK/$number.count"
    if [ "$f" -gt 0 ]; then
        printf '\n===== FAIL %s %s\n' "$kind" "$name"
        tail -n 200 "$WORK/$number.out" 2>/dev/null || echo "it was never run"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done <"$WORK/jobs"
if [ "$skipped" -gt 0 ]; then
    printf '\nskipped:\n'
    sed 's/^/  /' "$WORK"/*.skips
fi
echo
summary="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
[ $((passed + failed)) -gt 0 ] || echo "no test was run"
echo "$summary"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
