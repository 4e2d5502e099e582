# `encode -q 80`, a habit from other encoders, is asked about; a file that is called 80 is taken.
. "$ROOT/tests/cli_helpers.sh"
small_set 40
image=set/png/ring/0001.png
for habit in '-q 80' '-q80' '-q 0.8' '--quality 80' '--quality=80'; do
    # shellcheck disable=SC2086
    expect 2 '*quality is set by --psnr DB*--bpp or --bytes*' "$TAPER" encode -m model.tpm $habit -o out.taper $image
    [ "$(wc -l <expect.err)" -eq 1 ]
    test ! -e out.taper
done
expect 2 "*-q means quiet and takes no number, and there is no file '80'*" \
    "$TAPER" encode -m model.tpm $image -o out.taper -q 80
cp $image 80
expect 0 '*' "$TAPER" encode -m model.tpm -q 80 -o out.taper
[ ! -s expect.err ]
expect 2 '*-q means quiet*no file *90*' "$TAPER" truncate -q 90 -b 2K -o small.taper out.taper
expect 1 '*81: *' "$TAPER" encode -m model.tpm -o out.taper -f 80 81 # without -q it is a file that is not there
expect 2 "*unknown option '-8'*" "$TAPER" encode -m model.tpm -80 -o none.taper $image
