# No elapsed time that is told is below zero, also where the system's clock goes back.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then exit 0; fi
${CC:-cc} -shared -fPIC -o clock.so "$ROOT/tests/cli/failing_clock.c" || { echo "SKIP no compiler for a library"; exit 0; }
back() { env LD_PRELOAD="$PWD/clock.so" "$@"; }
bars bars 4
back "$TAPER" --version >version || { echo "SKIP cannot preload a library"; exit 0; }
back "$TAPER" encode -vv -m tiny -o set.taper bars 2>err
grep -q '^taper encode: 0\.00 s, ' err
for kind in "train --family dense --window 8" "train-labels --objective dt-nca"; do
    # shellcheck disable=SC2086  # words
    back "$TAPER" $kind -f --units 8 -e 2 --log log.jsonl -o m.tpm bars 2>err
    [ "$(wc -l <log.jsonl)" -ge 2 ]
    grep -q '"[a-z_]*seconds":0' log.jsonl
    if grep -E '"[a-z_]*seconds":-|-[0-9.]+ s\b' log.jsonl err; then echo "$kind: a time below zero"; exit 1; fi
done
nothing_left
