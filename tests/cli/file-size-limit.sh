# A limit on the size of files (ulimit -f) is a failed write like a full disk: exit code 5, one sentence,
# nothing left, the old file as it was; not the end by SIGXFSZ.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" encode -q -m model.tpm -o set.taper set/png
echo precious >old.taper
limited() { # blocks of 512 bytes, command...
    blocks=$1
    shift
    (ulimit -f "$blocks" && exec "$@")
}
too_large='*File too large*ulimit -f*'
expect 5 "taper encode: out.taper: cannot write *" limited 8 "$TAPER" encode -m model.tpm -o out.taper set/png
expect 5 "taper truncate: old.taper: $too_large" limited 8 "$TAPER" truncate -f -b 20K -o old.taper set.taper
echo precious | cmp - old.taper
expect 5 "*$too_large" limited 2 "$TAPER" decode -m model.tpm -o out.idx --format idx set.taper
expect 5 "taper train: * $too_large" limited 8 "$TAPER" train -q --window 8 -o out.tpm set/png
expect 5 "taper train: out.check: $too_large" limited 8 \
    "$TAPER" train -q --window 8 --family dense --hidden 64 --epochs 1 --checkpoint out.check -o out.tpm set/png
test -z "$(ls -d out* 2>/dev/null)"
nothing_left
