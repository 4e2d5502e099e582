# From a slow pipe the files are there early, get better, and end as a plain decode leaves them.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" decode -q -m model.tpm -o plain set.taper
size=$(wc -c <set.taper)
front=$("$TAPER" info --json set.taper | json_number front_bytes)
first=$((front + 1000))

wait_for() { # test...
    for i in $(seq 200); do
        if test "$@"; then return 0; fi
        sleep 0.05
    done
    echo "this never came: $*"
    exit 1
}
mkfifo pipe
"$TAPER" decode --progressive -m model.tpm -o out - <pipe 2>said &
pid=$!
exec 3>pipe
head -c "$first" set.taper >&3
wait_for -s out/star/0006.png
grep -q "$first of $size bytes, " said || wait_for -n "$(sleep 1; grep "$first of $size" said)"
cp -r out early
tail -c +$((first + 1)) set.taper >&3
exec 3>&-
wait $pid
diff -r plain out
if diff -r -q early out >/dev/null; then echo "nothing got better"; exit 1; fi
grep -q "$size of $size bytes, 100.0 %: " said

# groups that take turns, as those of rate classes do
"$TAPER" encode -q -m model.tpm --allocation equal --group 3 -o equal.taper set/png
"$TAPER" decode -q -m model.tpm -o turns equal.taper
"$TAPER" decode -q -p -m model.tpm -o turns-p - <equal.taper
diff -r turns turns-p

# one image; a file as the input; a cut one; too little for anything
"$TAPER" decode -q -p -m model.tpm -i 5 -o five.png - <set.taper
cmp five.png plain/arrow/0005.png
"$TAPER" decode -q -p --strict -m model.tpm -o file set.taper
diff -r plain file
head -c $((size / 3)) set.taper >cut.taper
expect 4 '*' "$TAPER" decode -p --strict -m model.tpm -o third cut.taper
"$TAPER" decode -q -m model.tpm -o third2 cut.taper
diff -r third third2
head -c 60 set.taper >front.taper
expect 3 '*incomplete header, need * more byte*' "$TAPER" decode -p -m model.tpm -o none front.taper
expect 3 '*not a taper container*' "$TAPER" decode -p -m model.tpm -o none set/png/arrow/0001.png
expect 5 '*exists already*' "$TAPER" decode -p -m model.tpm -o out - <set.taper
expect 2 '*cannot be combined with a cut*' "$TAPER" decode -p -b 1K -m model.tpm -o none - <set.taper
test ! -e none
nothing_left
