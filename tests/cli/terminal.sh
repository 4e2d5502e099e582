# Binary data is not written to a terminal; progress shows on one, and only there.
. "$ROOT/tests/cli_helpers.sh"
command -v script >/dev/null || { echo "SKIP no script(1) to make a terminal"; exit 0; }
script -qec true /dev/null >/dev/null 2>&1 </dev/null || { echo "SKIP no pseudo-terminal can be made here"; exit 0; }
small_set 60
"$TAPER" encode -q -m model.tpm -o set.taper set/png
code=0
script -qec "$TAPER truncate -b 20K -o - set.taper" /dev/null >said </dev/null || code=$?
test "$code" -eq 2
grep -q 'binary data is not written to a terminal' said
script -qec "$TAPER encode -m model.tpm -o shown.taper set/png" /dev/null >said </dev/null
grep -q 'encoding' said
script -qec "$TAPER encode -q -m model.tpm -o quiet.taper set/png" /dev/null >said </dev/null
test ! -s said
"$TAPER" encode -m model.tpm -o plain.taper set/png 2>said
test "$(wc -l <said)" -eq 1 # the container

# classes of a CSV reach a file as they are, and a terminal without what could steer it
cp -r set/png named
mv named/arrow "named/$(printf 'a\nr\033[1m')"
"$TAPER" train -q --window whole -k 4 -o whole.tpm named
"$TAPER" classify -q -m whole.tpm --among named --leave-one-out >kept
grep -q "$(printf 'r\033')" kept
NO_COLOR=1 script -qec "$TAPER classify -q -m whole.tpm --among named --leave-one-out" /dev/null >said </dev/null
grep -qF 'r\x1b[1m' said
not grep -q "$(printf '\033')" said
