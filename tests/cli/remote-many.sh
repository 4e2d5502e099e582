# Of many images behind a URL, one or a few cost few requests: the root, a leaf, the data.
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light
small_set 120
mkdir www
"$TAPER" encode -q -m model.tpm --layout image --bytes-per-image 60 -o x.taper set/png
for _ in 1 2; do
    "$TAPER" merge -q -f -o y.taper x.taper x.taper x.taper x.taper x.taper x.taper x.taper x.taper x.taper x.taper
    mv y.taper x.taper
done
"$TAPER" rename -q -o www/many.taper x.taper 7890 a/own.png # one name that occurs once
serve_www
all=$(wc -c <www/many.taper)

asked() { # requests at most, bytes at most, words...
    most=$1 room=$2
    shift 2
    rm -rf there here
    "$TAPER" "$@" -q -m model.tpm -o here www/many.taper 2>/dev/null
    "$TAPER" "$@" -v -m model.tpm -o there $url/many.taper 2>err || { cat err; exit 1; }
    diff -r here there
    said=$(sed -n 's/.*taper: \([0-9]*\) requests*, \([0-9]*\) bytes$/\1 \2/p' err)
    if [ "${said%% *}" -gt "$most" ] || [ "${said##* }" -gt "$room" ]; then
        echo "$*: $said (requests, bytes) of a file of $all"
        exit 1
    fi
}
[ "$all" -gt 500000 ] || { echo "the file has $all bytes only"; exit 1; }
asked 3 50000 decode -i 5000
asked 3 50000 decode -i 12000 --scale 1/2
asked 3 50000 decode -i 5000 --bpp 2
asked 4 60000 decode -i 7001-7009
asked 7 99999 decode -i 3,6000,12000
asked 5 90000 decode -i a/own.png
asked 9 "$all" decode -i '*own.png' # the whole front matter
expect 2 '*no image*' "$TAPER" decode -q -m model.tpm -i 12001 -o none $url/many.taper
expect 2 '*' "$TAPER" decode -q -m model.tpm -i nobody.png -o none $url/many.taper
[ ! -e none ]

# cut files, as far as they go
head -c $((all / 2)) www/many.taper >www/cut.taper
"$TAPER" decode -q -m model.tpm -i 100 -o a www/cut.taper
"$TAPER" decode -q -m model.tpm -i 100 -o b $url/cut.taper
diff -r a b
"$TAPER" decode -q -m model.tpm -i 11999 -o c www/cut.taper
"$TAPER" decode -q -m model.tpm -i 11999 -o d $url/cut.taper
diff -r c d

# damage is told as of the file
python3 - <<'END'
bytes = bytearray(open("www/many.taper", "rb").read())
for at in range(len(bytes) // 2, len(bytes) // 2 + 4000): bytes[at] ^= 0x55
open("www/damaged.taper", "wb").write(bytes)
END
for i in $(seq 5600 50 6400); do
    one=0 two=0
    rm -rf a b
    "$TAPER" decode -q -m model.tpm -i "$i" -o a www/damaged.taper 2>/dev/null || one=$?
    "$TAPER" decode -q -m model.tpm -i "$i" -o b $url/damaged.taper 2>/dev/null || two=$?
    [ $one -eq $two ] || { echo "image $i: exit code $two instead of $one"; exit 1; }
done
nothing_left
