# One way to write sizes, for every option that takes one; --bytes-per-image is a mean, which is said.
. "$ROOT/tests/cli_helpers.sh"
small_set 40
same() { # option and size, the same in plain bytes
    "$TAPER" encode -q -f -m model.tpm "$1" "$2" -o written.taper set/png
    "$TAPER" encode -q -f -m model.tpm "$1" "$3" -o plain.taper set/png
    cmp written.taper plain.taper
}
same -b '12 KB' 12000
same -b '12kb' 12000
same --bytes '12 KiB' 12288
same --bytes-per-image .25K 256
same --bytes-per-image '0.25 KiB' 256
same --bytes-per-image 300B 300
same --bytes-per-image 250.5 250.5
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" truncate -q -f --bytes-per-image '.2 K' -o written.taper set.taper
"$TAPER" truncate -q -f --bytes-per-image 204.8 -o plain.taper set.taper
cmp written.taper plain.taper
"$TAPER" decode -q -f -m model.tpm --max-memory '1 GiB' --bytes-per-image .2K -o out set.taper

expect 2 "*--bytes-per-image takes a size such as *, not '50X'*" \
    "$TAPER" encode -m model.tpm --bytes-per-image 50X -o none.taper set/png
expect 2 "*--bytes takes a size such as *, not '1 '*" "$TAPER" encode -m model.tpm -b '1 ' -o none.taper set/png
for verb in encode truncate decode; do
    "$TAPER" $verb --help | tr -s ' \n' ' ' | grep -q -e '--bytes-per-image SIZE at most SIZE bytes per image on average'
done
expect 0 '*40 images, 8[0-9]* bytes for *, 20[0-9.]* per image in the mean, *' \
    "$TAPER" encode -f -m model.tpm --bytes-per-image 204.8 -o written.taper set/png
