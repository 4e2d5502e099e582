# A full disk or a folder that cannot be written: exit code 5, one sentence, nothing half-written.
. "$ROOT/tests/cli_helpers.sh"
test -c /dev/full || { echo "SKIP no /dev/full here"; exit 0; }
small_set 60
"$TAPER" encode -q -m model.tpm -o set.taper set/png
full='*/dev/full: *No space left*'
expect 5 "$full" "$TAPER" encode -m model.tpm -o /dev/full set/png
expect 5 "$full" "$TAPER" encode -m model.tpm --bytes 20K -o /dev/full set/png
expect 5 "$full" "$TAPER" truncate -b 20K -o /dev/full set.taper
expect 5 "$full" "$TAPER" repack --layout image -m model.tpm -o /dev/full set.taper
expect 5 "$full" "$TAPER" merge -o /dev/full set.taper
expect 5 '*standard output: *No space left*' sh -c '"$0" truncate -b 20K -o - set.taper >/dev/full' "$TAPER"
expect 5 '*standard output: *No space left*' sh -c '"$0" decode -m model.tpm -i 1 -o - set.taper >/dev/full' "$TAPER"
expect 5 '*cannot write to standard output*' sh -c '"$0" info set.taper >/dev/full' "$TAPER"

# folders that do not exist, or cannot be made
expect 5 '*no/such/out.taper*' "$TAPER" truncate -b 20K -o no/such/out.taper set.taper
expect 5 '*/proc/out*' "$TAPER" decode -m model.tpm -o /proc/out set.taper
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 555 locked
    expect 5 '*locked/out.taper: *' "$TAPER" truncate -b 20K -o locked/out.taper set.taper
    expect 5 '*locked/out*' "$TAPER" decode -m model.tpm -o locked/out set.taper
fi

# a disk with room for a few images only: those that are there are whole
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    trap 'umount small' EXIT
    expect 5 '*small/out/*' "$TAPER" decode -m model.tpm -o small/out set.taper
    "$TAPER" decode -q -m model.tpm -o plain set.taper
    for file in $(cd small/out && find . -name '*.png'); do cmp "small/out/$file" "plain/$file"; done
    rm -r small/out
    expect 5 '*small/out.taper: *' "$TAPER" encode --best -m model.tpm -o small/out.taper set/png
    test -z "$(ls -A small)"
fi
nothing_left
