# Another layout holds the same images; there and back gives the same file.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" encode --best -q -m model.tpm --layout image --embed-model -o image.taper set/png
"$TAPER" decode -q -m model.tpm -o plain set.taper
repack() { "$TAPER" repack -q "$@"; }
repack --layout image -m model.tpm -o one.taper set.taper
"$TAPER" info one.taper | grep -q 'layout    image: 1 layer of 120 groups'
"$TAPER" decode -q -m model.tpm -o one one.taper
diff -r plain one
repack --group 50 -o set2.taper image.taper # it carries its model, and goes on doing so
"$TAPER" info --json set2.taper | grep -q '"layout":"set","images":120,.*"groups":3,'
"$TAPER" decode -q -o two set2.taper
diff -r plain two
repack -m model.tpm -o back.taper one.taper
"$TAPER" decode -q -m model.tpm -o back back.taper
diff -r plain back
repack -m model.tpm --layout image -o - - <set.taper | cmp - one.taper

# a cut container yields what all images have
head -c 20000 set.taper >cut.taper
repack --layout image -m model.tpm -o cut-image.taper cut.taper
"$TAPER" verify --strict cut-image.taper | grep -q ': whole'
"$TAPER" decode -q -m model.tpm -o cut-image cut-image.taper
test "$(count_png cut-image)" -eq 120

expect 2 '*set.taper: *-m*' "$TAPER" repack -o none.taper set.taper
"$TAPER" train -q --window 4 -o other.tpm set/png
expect 2 '*set.taper: *model*' "$TAPER" repack -m other.tpm -o none.taper set.taper
expect 2 '*is an input too*' "$TAPER" repack -f -m model.tpm -o set.taper set.taper
expect 2 '*one of set, image*' "$TAPER" repack --layout imag -m model.tpm -o none.taper set.taper
test ! -e none.taper
nothing_left
