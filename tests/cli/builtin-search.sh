# The built-in model of search: an index of photographs and icons without -m, in which copies are found; its name where models are
# given; containers with its codes need no -m either; verbs that decode refuse it as they refuse any embedding model.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes photos --count 18
"$SAMPLES" small set --count 40 --format png
mv set/png icons

expect 0 'taper index: all.tpx: 58 images, 256 bits each, *' "$TAPER" index -o all.tpx photos icons
"$TAPER" index -q -m search -o named.tpx photos icons
"$TAPER" index -q -m "$ROOT/models/search.tpm" -o file.tpx photos icons
cmp all.tpx named.tpx
cmp all.tpx file.tpx
"$TAPER" info search | grep -qx 'search: model, search, which is built in'
"$TAPER" info --json search | grep -q '"builtin_model": *"search"'

# Copies at half the side and of few bytes are nearest to what they are copies of; without an index file, too.
"$TAPER" encode -q --bytes-per-image 2K -o photos.taper photos
"$TAPER" decode -q --scale 1/2 -o copies photos.taper
names() { sed 1d "$1" | awk -F, '{ sub(/.*\//, "", $1); sub(/.*\//, "", $3); print $1, $3 }'; }
"$TAPER" search -q -k 1 all.tpx copies >found.csv
test "$(names found.csv | awk '$1 == $2' | wc -l)" -eq 18
"$TAPER" search -q -k 1 photos copies >direct.csv
names found.csv >found
names direct.csv | cmp - found
"$TAPER" search -q -k 1 all.tpx icons | sed 1d | awk -F, '$5 != 0 { exit 1 }'

# an index grows, and shards are joined
"$TAPER" index -q -o some.tpx photos
expect 0 'taper index: more.tpx: 58 images, 256 bits each, *' "$TAPER" index -o more.tpx some.tpx icons
"$TAPER" search -q -k 3 more.tpx copies >more.csv
"$TAPER" search -q -k 3 all.tpx copies | cmp - more.csv

# containers: the codes alone suffice, for `add` as well
"$TAPER" encode -q --embed-with search -o coded.taper photos
"$TAPER" search -q -k 1 coded.taper copies >coded.csv
names coded.csv | cmp - found
"$TAPER" index -q -o of-container.tpx coded.taper
"$TAPER" search -q -k 1 of-container.tpx copies >again.csv
names again.csv | cmp - found
"$TAPER" add -q coded.taper icons/star/0001.png
"$TAPER" search -q -k 1 coded.taper icons/star/0001.png | grep -q ',0,19$'

# -m overrides; an index of another model does not get codes of this one
"$TAPER" train-bits -q -w whole -k 96 --independent -e 1 -o own.tpm icons
mixed='taper index: index 2 is of * only indexes of one model and code length can be joined'
expect 0 '*: 40 images, 96 bits each, *' "$TAPER" index -m own.tpm -o own.tpx icons
expect 2 "$mixed" "$TAPER" index -m own.tpm -o no.tpx some.tpx icons
expect 2 "$mixed" "$TAPER" index -o no.tpx own.tpx photos
expect 2 'taper search: queries that are images need the model that made the index: -m MODEL' "$TAPER" search own.tpx copies/01-leaves.png
expect 2 "taper search: search: the index's codes are of model *" "$TAPER" search -m search own.tpx copies/01-leaves.png
expect 2 'taper index: photo: the codes of this model are real numbers, but an index needs binary codes: *' \
    "$TAPER" index -m photo -o no.tpx photos

# it makes and decodes no containers
expect 2 'taper encode: search: an embedding model has no decoder: *' "$TAPER" encode -m search -o no.taper photos
expect 2 'taper decode: search: an embedding model has no decoder: *' "$TAPER" decode -m search -o no photos.taper
expect 2 'taper compare: search: an embedding model has no decoder: *' "$TAPER" compare -r none -m search photos
test ! -e no.taper
test ! -e no.tpx

# a container that claims to be made with it is damaged, whatever is done with it
if command -v python3 >/dev/null; then
    cat >claim.py <<'P'
import sys
data, model = bytearray(open("photos.taper", "rb").read()), open(sys.argv[1], "rb").read()
data[24:32] = model[16:24]
data[20:24] = bytes(4)
crc = 0xFFFFFFFF
for byte in data[:56 + 24 * int.from_bytes(data[48:52], "little")]:
    crc ^= byte
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
data[20:24] = (crc ^ 0xFFFFFFFF).to_bytes(4, "little")
open("claims.taper", "wb").write(data)
P
    python3 claim.py "$ROOT/models/search.tpm"
    "$TAPER" info claims.taper >told
    grep -q 'search, which is built in' told
    expect 3 'taper decode: claims.taper: *no decoder' "$TAPER" decode -o no claims.taper
    expect 3 'taper verify: claims.taper: *no decoder' "$TAPER" verify claims.taper
    expect 3 'taper repack: claims.taper: *no decoder' "$TAPER" repack --layout image -o no.taper claims.taper
    "$TAPER" merge -q -o merged.taper claims.taper claims.taper # without a model
    expect 3 'taper decode: merged.taper: *no decoder' "$TAPER" decode -o no merged.taper
fi
