# Components turned for few large coefficients: the default where there are windows enough, and smaller files.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 60 --format png
"$TAPER" train -q --window 4 -o sparse.tpm set/png
"$TAPER" train -q --window 4 --basis sparse -o again.tpm set/png
"$TAPER" train -q --window 4 --basis principal -o principal.tpm set/png
cmp sparse.tpm again.tpm
cmp -s sparse.tpm principal.tpm && exit 1
for basis in sparse principal; do
    "$TAPER" encode -q -m $basis.tpm --psnr 36 -o $basis.taper set/png
    "$TAPER" verify -q $basis.taper >verified
done
test "$(wc -c <sparse.taper)" -lt "$(wc -c <principal.taper)"

# too few windows to say anything: the components stay as they are, whatever is asked for
"$TAPER" train -q --window 8 -o few.tpm set/png
"$TAPER" train -q --window 8 --basis principal -o same.tpm set/png
cmp few.tpm same.tpm

# a model that is adapted keeps its own
expect 2 '*--from*omit --basis*' "$TAPER" train --from sparse.tpm --basis principal -o x.tpm set/png
expect 2 '*--basis*' "$TAPER" train --basis none -o x.tpm set/png
