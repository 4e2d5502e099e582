# The programs of docs/library.md, as they stand there, compile without a warning and do what the page says.
CC=${CC:-cc} sanitised=
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then sanitised="-fsanitize=address,undefined"; fi
mkdir include
echo '#include "codec/taper.h"' >include/taper.h # the installed header is one file
libraries="$(pkg-config --libs libzstd libxxhash 2>/dev/null) -lm -pthread"
awk '/^```c$/ { getline; file = $2; on = 1 } /^```$/ { on = 0; if (file) close(file) } on { print >file }' \
    "$ROOT/docs/library.md"
test "$(ls ./*.c | wc -l)" -eq 10
for file in *.c; do
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror $sanitised -Iinclude -I"$ROOT" \
        -o "${file%.c}" "$file" "$B/libtaper.a" $libraries
done

./encode two.taper
"$TAPER" info two.taper | grep -q 'images *2'
./decode two.taper >first.ppm 2>said
grep -q '^slow.png: \([0-9]*\) of \1 passes$' said
test "$(wc -c <first.ppm)" -eq $((64 * 48 * 3 + 13))
if ./decode first.ppm >none 2>said; then exit 1; fi
grep -q '^decode: corrupt: ' said

"$SAMPLES" scenes photos --count 6 2>/dev/null
"$TAPER" train-bits -q -o bits.tpm -w whole -k 64 --independent --untied -e 1 photos
"$TAPER" encode -q --embed-with bits.tpm -o set.taper photos
"$TAPER" encode -q --layout image -o each.taper photos
"$TAPER" index -q -m bits.tpm -o set.tpx set.taper

./push <set.taper >shown
awk '{ if ($3 < last) exit 1; last = $3 } END { exit NR < 2 || $3 != $5 }' shown
if head -c 20 set.taper | ./push 2>said; then exit 1; fi
grep -q 'front matter' said

size=$(wc -c <each.taper)
./ranges each.taper 2 "$size" >whole
./ranges each.taper 2 $((size / 2)) >half
test "$(sed 's/ .*//' whole)" -lt $((size / 2))
awk '{ print $4 }' half whole | sort -n | head -n 1 | grep -qx "$(awk '{ print $4 }' half)"

./array ramp.taper
./image ramp.taper | grep -qx '64 x 48, 1 channels'
if ./image none >said; then exit 1; fi
./nearest set.tpx >found
test "$(wc -l <found)" -eq 5
head -n 1 found | grep -q '^0 '
./batch each.taper >means
test "$(wc -l <means)" -eq 8
awk '$1 <= 0 || $1 >= 1 { exit 1 }' means
test "$(head -n 1 means)" = "$(sed -n 7p means)" # of six images, 0 and 30 are one

./similar set.tpx set.taper >found
test "$(wc -l <found)" -eq 5
head -n 1 found | grep -q '^0 '
./votes | grep -qx '1 of 3 wrong, 33 % (95 %: 6 to 79)'
