# The conformance corpus: the generator still writes the same bytes, the teaching decoder finds in them what
# the manifest says, and so does the program itself, by its exit codes and --levels. (The library's test is
# tests/test_conformance.c.)
. "$ROOT/tests/cli_helpers.sh"
corpus=$ROOT/tests/conformance/files
mkdir again
"$B/tests/conformance/generate" again
diff -r "$corpus" again

# a line of each kind: whole, cut, damaged, short of its header, refused
for name in parts-set parts-tail everything-tracks parts-damaged embedded bad-name-root; do
    grep "^$name.taper" "$corpus/manifest" | while read -r file model bytes outcome rest; do
        [ "$model" = - ] || model="-m $corpus/$model"
        [ "$model" != - ] || model=
        case $outcome in ok) want=0 ;; *) want=3 ;; esac
        got=0
        # shellcheck disable=SC2086
        head -c "$bytes" "$corpus/$file" | "$TAPER" decode --levels $model - >levels 2>words || got=$?
        [ "$got" -eq "$want" ] || { echo "$file, $bytes bytes: exit code $got"; cat words; exit 1; }
    done
done

command -v python3 >/dev/null || { echo "SKIP no python3 here"; exit 0; }
python3 "$ROOT/tests/conformance/check.py" "$corpus"
# it sees a difference: of a level, of a pixel, of what is refused
mkdir other
for f in manifest samples grey.tpm grey-set.taper bad-tail.taper; do cp "$corpus/$f" other; done
changed() { # what is changed: line to look at, sed expression
    cp "$corpus/manifest" other/manifest
    sed "/^$1/{$2;}" "$corpus/manifest" >other/manifest
    if python3 "$ROOT/tests/conformance/check.py" other "$1" >out; then echo "not seen: $*"; exit 1; fi
}
changed grey-set.taper 's/ ok ......../ ok 00000000/'
changed grey-set.taper 's/........$/00000000/'
changed grey-set.taper 's/ ok / damaged /'
changed bad-tail.taper 's/corrupt/ok/'
