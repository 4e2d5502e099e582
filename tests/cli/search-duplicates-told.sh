# search --duplicates --within D: pairs of codes. The nearest come first, and every image with a near one is named,
# however many there are.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 128 --independent -e 4 -o bits.tpm set/png
mkdir copies
for n in $(seq 101 300); do ln set/png/arrow/0001.png copies/$n.png; done
for file in set/png/*/000[2-5].png; do cp "$file" "copies/$(echo "$file" | tr / -)"; done
"$TAPER" index -q -m bits.tpm -o copies.tpx copies
expect 0 'taper search: warning: [0-9]* images have more than 64 near ones, *' \
    "$TAPER" search --duplicates --within 4 copies.tpx
mv expect.out pairs.csv
python3 - pairs.csv <<'END'
import csv, sys
pairs = list(csv.DictReader(open(sys.argv[1])))
keys = [(int(p["distance"]), int(p["image"]), int(p["other_image"])) for p in pairs]
assert keys == sorted(set(keys)), "unsorted, or twice"
assert all(a < b for _, a, b in keys)
named = {p[side] for p in pairs for side in ("name", "other")}
missing = [n for n in range(101, 301) if f"copies/{n}.png" not in named]
assert not missing, missing
END
"$TAPER" search -q --json --duplicates --within 4 copies.tpx | grep -c '"kind":"pair"' >count
test "$(cat count)" -eq $(($(wc -l <pairs.csv) - 1))
"$TAPER" search -q --duplicates --within 4 -m bits.tpm copies | cmp - pairs.csv
expect 2 '*--duplicates compares the index*omit the queries*' "$TAPER" search --duplicates --within 4 copies.tpx copies/101.png

# a page of them: each set of near images in a row, with pictures
"$TAPER" index -q -m bits.tpm -o few.tpx set/png/arrow set/png/bolt/0001.png copies/101.png
"$TAPER" search -q --duplicates --within 0 --html pairs.html --images set/png --images copies -o page.csv few.tpx
grep -q '^set/png/arrow/0001.png,copies/101.png,0,' page.csv
test "$(grep -o 'data:image/png' pairs.html | wc -l)" -ge 2
nothing_left
