# Shards of one model become one container; what does not fit together is named.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
for part in train test; do # groups of one size have the same layers
    "$TAPER" encode --best -q -m model.tpm --group 20 -o $part.taper set/cifar/$part.bin
    "$TAPER" decode -q -m model.tpm --format cifar -o $part.bin $part.taper
done
"$TAPER" merge -q -o all.taper train.taper test.taper
"$TAPER" verify --strict all.taper | grep -q ': whole'
"$TAPER" decode -q -m model.tpm --format cifar -o all.bin all.taper
cat train.bin test.bin | cmp - all.bin
"$TAPER" merge -q -o same.taper train.taper
"$TAPER" decode -q -m model.tpm --format cifar -o same.bin same.taper
cmp same.bin train.bin

# layers without a pass of most images, of which the first ones have another order in the result
for part in train test; do
    "$TAPER" encode -q -m tiny --group 20 -o $part.tiny.taper set/cifar/$part.bin
    "$TAPER" decode -q --format cifar -o $part.bin -f $part.tiny.taper
done
"$TAPER" merge -q -o tiny.taper train.tiny.taper test.tiny.taper
"$TAPER" verify --strict tiny.taper | grep -q ': whole'
"$TAPER" decode -q --format cifar -o tiny.bin tiny.taper
cat train.bin test.bin | cmp - tiny.bin

# names that collide get the folder of their shard
"$TAPER" encode --best -q -m model.tpm -o names.taper set/png/arrow
expect 0 'taper merge: 12 names are changed, because an earlier container has the same: 0001.png is shard-2/0001.png, ...' \
    "$TAPER" merge -o twice.taper names.taper names.taper
"$TAPER" decode -q -m model.tpm -o twice twice.taper
test "$(count_png twice)" -eq 24
cmp twice/0001.png twice/shard-2/0001.png
mkdir odd
cp set/png/arrow/0001.png odd/000013.png
"$TAPER" encode --best -q -m model.tpm -o odd.taper odd
"$TAPER" encode --best -q -m model.tpm -o numbers.taper set/cifar/test.bin # without names
expect 0 '*' "$TAPER" merge -o mixed.taper names.taper odd.taper
if grep -q changed expect.err; then exit 9; fi
expect 0 'taper merge: 1 name is changed, because an earlier container has the same: one without a name is shard-*/000013.png' \
    "$TAPER" merge -f -o mixed.taper odd.taper numbers.taper

"$TAPER" train -q --window 4 -o other.tpm set/png
"$TAPER" encode --best -q -m other.tpm -o other.taper set/cifar/test.bin
expect 2 'taper merge: other.taper: *another model*' "$TAPER" merge -o none.taper train.taper other.taper

# an image of several strips, complete behind a truncated one, of a model that is given only
"$SAMPLES" scenes made --count 3
"$TAPER" encode --best -q -m other.tpm --layout image -o whole.taper made/01-*
"$TAPER" truncate -q --fraction 0.7 -o part.taper whole.taper
"$TAPER" encode --best -q -m other.tpm --layout image -o two.taper made/02-* made/03-*
"$TAPER" merge -q -m other.tpm -o both.taper part.taper two.taper
"$TAPER" decode -q -m other.tpm -o two two.taper
"$TAPER" decode -q -m other.tpm -o both both.taper
for f in two/*; do cmp "$f" both/"${f#two/}"; done
"$TAPER" add -q --best -m other.tpm part.taper made/02-* made/03-*
cmp part.taper both.taper
expect 2 "taper merge: part.taper: *give the container's model with -m" "$TAPER" merge -m tiny -o none.taper part.taper two.taper

"$TAPER" encode --best -q -m model.tpm --layout image -o image.taper set/cifar/test.bin
expect 2 'taper merge: image.taper: *layout*' "$TAPER" merge -o none.taper train.taper image.taper
head -c 9000 test.taper >cut.taper
expect 2 'taper merge: cut.taper: *is cut*' "$TAPER" merge -o none.taper train.taper cut.taper
cp test.taper damaged.taper
printf 'damage' | dd of=damaged.taper bs=1 seek=$(($(wc -c <damaged.taper) - 20)) conv=notrunc 2>dd.err
expect 3 'taper merge: damaged.taper: *is damaged*' "$TAPER" merge -o none.taper train.taper damaged.taper

# more containers than may be open at once, named in a list; messages name the one that is damaged
mkdir many
for i in $(seq 100 169); do
    cp test.taper many/$i.taper
    echo $i.taper
done >many/list
"$TAPER" merge -q -o many.taper many/*.taper
expect 0 'taper merge: 70 containers, *' sh -c "ulimit -n 40 && '$TAPER' merge -o few.taper --filelist many/list"
cmp few.taper many.taper
find many -name '*.taper' -print0 | sort -z | "$TAPER" merge -q -o - --filelist - --null | cmp - many.taper
"$TAPER" merge -q -f -o few.taper train.taper --filelist many/list
"$TAPER" merge -q -f -o many.taper train.taper many/*.taper
cmp few.taper many.taper
cp damaged.taper many/165.taper
expect 3 'taper merge: many/165.taper: *damaged*' sh -c "ulimit -n 40 && '$TAPER' merge -o none.taper --filelist many/list"
expect 2 '*the list names no container*' "$TAPER" merge -o none.taper --filelist /dev/null
expect 5 'taper merge: *nowhere*cannot open*' "$TAPER" merge -o none.taper --filelist nowhere
expect 2 '*is an input too*' "$TAPER" merge -f -o test.taper train.taper test.taper
expect 5 '*nowhere.taper: cannot open*' "$TAPER" merge -o none.taper train.taper nowhere.taper
expect 2 '*give the containers*' "$TAPER" merge -o none.taper
test ! -e none.taper
nothing_left
