# `taper ls` and `taper extract`: names, a table and JSON of whole and cut files; images by name, pattern and number.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode -q --best --strip -m model.tpm --group 5 -o set.taper set/png
"$TAPER" ls set.taper >names
(cd set/png && find . -name '*.png' | sed 's,^\./,,' | LC_ALL=C sort) | cmp - names
"$TAPER" ls -i 'ring/*,2' set.taper >some
grep '^ring/' names >ring
{ sed -n 2p names; cat ring; } | LC_ALL=C sort | cmp - some

"$TAPER" ls -l set.taper >table
test "$(wc -l <table)" -eq 61
head -n 1 table | grep -q '^number *size *kind *bytes *class *name$'
sed -n 2p table | grep -q "^ *1 *[0-9]*x[0-9]* *RGB *~[0-9]* *arrow *arrow/0001.png$"
# without labels there is no column of classes, and without names there are numbers
"$TAPER" encode -q --best -m model.tpm --layout image -o numbered.taper set/idx/images.idx
"$TAPER" ls numbered.taper | head -n 1 | grep -qx 000001
"$TAPER" ls -l numbered.taper | sed -n 2p | grep -q '^ *1 *[0-9]*x[0-9]* *[RGBgrey]* *[0-9]* *000001$'

# shares of the groups sum up to the image data; images alone have all bytes of theirs
front=$("$TAPER" info --json set.taper | json_number front_bytes)
/usr/bin/python3 - "$TAPER" "$front" <<'END'
import json, os, subprocess, sys
taper, front = sys.argv[1], int(sys.argv[2])
def lines(path):
    text = subprocess.run([taper, "ls", "--json", path], capture_output=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]
shared = lines("set.taper")
assert len(shared) == 60 and [l["image"] for l in shared] == list(range(1, 61))
assert all(l["coded_together"] == 5 and l["kind"] == "image" and l["schema"] == 1 for l in shared)
data = os.path.getsize("set.taper") - front
assert abs(sum(l["bytes"] for l in shared) - data) <= 60, (sum(l["bytes"] for l in shared), data)
alone = lines("numbered.taper")
assert all(l["coded_together"] == 1 and l["bytes"] == l["bytes_here"] for l in alone)
END

# a cut file: what is here of all; the front matter must be whole
half=$((front + ($(wc -c <set.taper) - front) / 2))
head -c "$half" set.taper | "$TAPER" ls -l - | sed -n 2p | grep -q '~[0-9]*/[0-9]* '
head -c $((front - 1)) set.taper >short.taper
expect 3 'taper ls: short.taper: incomplete header, need 1 more byte*' "$TAPER" ls short.taper
expect 2 "taper ls: set.taper: there is no image 'nope'*" "$TAPER" ls -i nope set.taper
expect 2 '*give a container*' "$TAPER" ls
"$TAPER" ls numbered.taper set.taper >both
sed -n 1p both | grep -qx 'numbered.taper:'
grep -qx 'set.taper:' both

# extract: the files of decode
"$TAPER" decode -q -m model.tpm -o all set.taper
"$TAPER" extract -q -m model.tpm -o some.d set.taper ring/0001.png 'star/*' 1,3-4
test "$(count_png some.d)" -eq $((1 + $(grep -c '^star/' names) + 3))
(cd some.d && find . -name '*.png') >made
while read -r file; do cmp "all/$file" "some.d/$file"; done <made
expect 2 "taper extract: set.taper: there is no image '*.gif'*" "$TAPER" extract -m model.tpm -o none set.taper '*.gif'
test ! -e none
expect 2 '*give a container*' "$TAPER" extract -o none
expect 2 'taper decode: *one container*' "$TAPER" decode -o none set.taper ring/0001.png
expect 5 'taper extract: *exist*' "$TAPER" extract -m model.tpm -o some.d set.taper 1
"$TAPER" extract -q -m model.tpm -o one.png set.taper arrow/0002.png
test -s one.png

# times of files, in local time and in UTC
mkdir timed
cp set/png/star/0001.png timed/a.png
touch -d '2024-03-01 10:11:12 UTC' timed/a.png
"$TAPER" encode -q -m model.tpm -o timed.taper timed
TZ=UTC "$TAPER" ls -l timed.taper | tail -n 1 | grep -q ' 2024-03-01 10:11  a.png$'
"$TAPER" ls --json timed.taper | grep -q '"modified":"2024-03-01T10:11:12Z"'
"$TAPER" extract -q -m model.tpm -o from-timed timed.taper a.png
test "$(stat -c %Y from-timed/a.png)" = "$(stat -c %Y timed/a.png)"
# they stay with the image when another one is removed, or it is renamed
cp set/png/star/0002.png timed/b.png
"$TAPER" encode -q -m model.tpm -o two.taper timed
"$TAPER" remove -q -m model.tpm two.taper b.png
"$TAPER" rename -q two.taper a.png c.png
"$TAPER" ls --json two.taper | grep -q '"name":"c.png".*"modified":"2024-03-01T10:11:12Z"'
