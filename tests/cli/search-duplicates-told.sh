# search --duplicates: the nearest pairs come first, every copy is named however many there are, and a distance that was
# found by a poor model, or by few images, comes with a warning.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 128 --independent -e 4 -o bits.tpm set/png
mkdir copies
for n in $(seq 101 300); do ln set/png/arrow/0001.png copies/$n.png; done
for file in set/png/*/000[2-5].png; do cp "$file" "copies/$(echo "$file" | tr / -)"; done
"$TAPER" index -q -m bits.tpm -o copies.tpx copies
"$TAPER" search --duplicates --within 4 copies.tpx >pairs.csv 2>err
not grep -q 'to distinguish them' err # the distance was given
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

# few bits do not part different images
"$TAPER" train-bits -q -w whole -k 4 -e 1 -o poor.tpm set/png
"$TAPER" search --duplicates -m poor.tpm set/png >poor.csv 2>err
grep -q '^taper search: warning: 1[0-9]* of 120 images have another within [0-9]*: unless .* too few bits, .* give --within$' err
# and few images tell no distance
mkdir few
cp set/png/arrow/*.png few/
"$TAPER" search --duplicates -m bits.tpm few >few.csv 2>err
grep -q '^taper search: warning: [0-9]* images are too few to measure a distance; look at the pairs, and give --within$' err
"$TAPER" search --duplicates --within 2 -m bits.tpm few >few.csv 2>err
not grep -q warning err
nothing_left
