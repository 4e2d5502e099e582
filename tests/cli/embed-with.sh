# encode --embed-with: a container of images of any size takes codes for search with it; every cut has them; all that
# makes other containers of it carries them; programs that do not know them pass over them.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" train-bits -q -w whole -k 96 --independent -e 4 -o bits.tpm set/png
"$SAMPLES" scenes scenes --count 6
find scenes -name '*.png' | sort >list
cp -r set/png mixed
i=0
while read -r file; do i=$((i + 1)); cp "$file" "mixed/photo$i.png"; done <list # images of other sizes
encode() { "$TAPER" encode -q "$@"; }
encode -o plain.taper mixed
encode -o with.taper --embed-with bits.tpm mixed
images=$("$TAPER" info --json with.taper | json_number images)
more=$(($(wc -c <with.taper) - $(wc -c <plain.taper)))
test $more -le $((images * 12 + 64)) # 96 bits are 12 bytes
"$TAPER" info --json with.taper | grep -q '"search_bits":96,"search_model":"[0-9a-f]*"'
"$TAPER" info with.taper | grep -q '  search    96 bits an image'
"$TAPER" decode -q -o a plain.taper
"$TAPER" decode -q -o b with.taper
diff -r a b

# an index of the container is that of its images
"$TAPER" index -q -m bits.tpm -o images.tpx mixed
"$TAPER" index -q -m bits.tpm -o with.tpx with.taper
"$TAPER" search -q --exact -k 9 -m bits.tpm images.tpx mixed | cut -d , -f 2,4,5 >want
"$TAPER" search -q --exact -k 9 -m bits.tpm with.tpx mixed | cut -d , -f 2,4,5 | cmp - want

# cut, in another layout, joined
front=$("$TAPER" info --json with.taper | sed 's/.*"front_bytes":\([0-9]*\).*/\1/')
head -c $((front + 500)) with.taper >cut.taper
"$TAPER" index -q -m bits.tpm -o cut.tpx cut.taper
cmp cut.tpx with.tpx
"$TAPER" truncate -q --fraction 0.4 -o short.taper with.taper
"$TAPER" repack -q --layout image -o image.taper with.taper
encode -T 3 --psnr 25 --layout image --embed-with bits.tpm -o small.taper mixed
for made in short image small; do
    "$TAPER" index -q -m bits.tpm -o $made.tpx $made.taper
    cmp $made.tpx with.tpx
done
"$TAPER" merge -q -o twice.taper with.taper with.taper
"$TAPER" index -q -m bits.tpm -o twice.tpx twice.taper
"$TAPER" info twice.tpx | grep -q "an index of $((2 * images)) images"
encode -o few.taper --embed-with bits.tpm --search-bits 20 mixed
"$TAPER" index -q -m bits.tpm -o few.tpx few.taper
"$TAPER" info few.tpx | grep -q '  codes     20 bits each'
"$TAPER" search -q -m bits.tpm -k 60 --html page.html with.taper mixed/photo1.png >found.csv
grep -q ',photo1.png,,0,' found.csv # among others: a model of sixty images tells few apart
grep -q 'data:image/png;base64' page.html

# the model of these codes, carried: no -m is needed, by any verb that takes codes, whatever becomes of the container
encode -o alone.taper --embed-with bits.tpm --embed-search-model mixed
test $(($(wc -c <alone.taper) - $(wc -c <with.taper))) -eq $(($(wc -c <bits.tpm) + 24))
"$TAPER" info alone.taper | grep -q '  search    96 bits an image, by model .*, carried in the file'
"$TAPER" info --json alone.taper | grep -q '"search_model_carried":true'
"$TAPER" verify -q alone.taper
"$TAPER" index -q -o alone.tpx alone.taper
cmp alone.tpx with.tpx
"$TAPER" search -q --exact -k 9 alone.taper mixed | cut -d , -f 2,4,5 | cmp - want
"$TAPER" search -q --exact -k 9 --html page2.html --images alone.taper alone.tpx mixed | cut -d , -f 2,4,5 | cmp - want
"$TAPER" truncate -q --fraction 0.8 -o alone-short.taper alone.taper
"$TAPER" repack -q --layout image -o alone-image.taper alone-short.taper
"$TAPER" merge -q -o alone-twice.taper with.taper alone.taper
for made in short image twice; do
    "$TAPER" search -q --exact -k 1 alone-$made.taper mixed/photo1.png | tail -n 1 | grep -q ',0,'
done
mkdir -p labelled
cp -r mixed labelled/one
cp -r mixed labelled/two
encode -o labelled.taper --embed-with bits.tpm --embed-search-model labelled
"$TAPER" classify -q --among labelled.taper -k 1 mixed/photo*.png >by-carried.csv
"$TAPER" classify -q -m bits.tpm --among labelled.taper -k 1 mixed/photo*.png | cmp - by-carried.csv
"$TAPER" embed -q -o carried.npy labelled.taper
"$TAPER" embed -q -m bits.tpm -o given.npy labelled.taper
cmp carried.npy given.npy
"$TAPER" decode -q -o c alone.taper
diff -r a c

# what cannot be done
expect 2 'taper search: with.taper: its codes for search are of model *, which it does not carry: give it with -m' \
    "$TAPER" search -i 1 with.taper
expect 2 'taper index: with.taper: its codes for search are of model *' "$TAPER" index -o no.tpx with.taper
expect 2 'taper classify: labelled.taper: its codes for search are of model *, and this is *: give the model that made them with -m' \
    "$TAPER" classify -m tiny --among labelled.taper mixed/photo1.png
expect 2 'taper classify: with.taper: its codes for search are of model *' "$TAPER" classify --among with.taper mixed
expect 0 'taper encode: warning: without effect here: --embed-search-model (for --embed-with)' \
    "$TAPER" encode -f --embed-search-model -o plain2.taper mixed
expect 2 'taper merge: *container 2 has codes for search of 0 bits by model *, the first has 96 by *' \
    "$TAPER" merge -o no.taper with.taper plain.taper
expect 2 'taper merge: *the first has 96 by *' "$TAPER" merge -o no.taper with.taper few.taper
expect 2 'taper encode: bits.tpm: its codes have 96 bits, not 97: *' encode --embed-with bits.tpm --search-bits 97 -o no.taper mixed
expect 2 'taper encode: model.tpm: the codes of this model are real numbers, *' encode --embed-with model.tpm -o no.taper mixed
expect 0 'taper encode: warning: without effect here: --search-bits (for --embed-with)' \
    "$TAPER" encode -f --search-bits 9 -o plain2.taper mixed
expect 5 'taper encode: none.tpm: *' encode --embed-with none.tpm -o no.taper mixed
test ! -e no.taper
nothing_left
