# merge takes what people have: files cut by truncate and encode, sets of other sizes and classes. Every
# image of the result is what it is in its shard.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
encode() { "$TAPER" encode -q -m model.tpm "$@"; }
# Do the images of a container, in their order, have the pixels of those of the others?
joins() { # container, shards...
    "$TAPER" decode -q -m model.tpm --format cifar -o joined.bin "$1"
    shift
    : >apart.bin
    for shard; do
        "$TAPER" decode -q -m model.tpm --format cifar -o one.bin "$shard"
        cat one.bin >>apart.bin
        rm one.bin
    done
    cmp joined.bin apart.bin
    rm joined.bin apart.bin
}

# cut by truncate, by encode, not at all; in both layouts
for layout in set image; do
    encode --best --layout $layout -o whole-$layout.taper set/cifar/test.bin
    encode --best --layout $layout -o all.taper set/cifar/train.bin
    "$TAPER" truncate -q --bpp 1 -o truncated-$layout.taper all.taper
    encode --layout $layout --bpp 2 -o encoded-$layout.taper set/cifar/train.bin
    shards="truncated-$layout.taper encoded-$layout.taper whole-$layout.taper"
    # shellcheck disable=SC2086
    "$TAPER" merge -q -o joined-$layout.taper $shards
    "$TAPER" verify --strict joined-$layout.taper | grep -q ': whole'
    # shellcheck disable=SC2086
    joins joined-$layout.taper $shards
    rm all.taper
done
# what was merged is cut, repacked and merged as anything else
"$TAPER" truncate -q --fraction 0.6 -o shorter.taper joined-set.taper
"$TAPER" merge -q -o again.taper shorter.taper joined-set.taper
joins again.taper shorter.taper joined-set.taper
"$TAPER" repack -q --layout image -m model.tpm -o repacked.taper joined-set.taper
"$TAPER" merge -q -o - whole-image.taper repacked.taper >piped.taper
joins piped.taper whole-image.taper repacked.taper

# ten pictures and one: their layers differ
mkdir ten one
for k in 01 02 03 04 05 06 07 08 09 10; do cp "set/png/ring/00$k.png" ten; done
cp set/png/star/0001.png one
encode -o ten.taper ten
encode -o one.taper one
layers() { "$TAPER" info "$1" | sed -n 's/^ *layout *[a-z]*: \([0-9]*\) layers*.*/\1/p'; }
test "$(layers ten.taper)" -ne "$(layers one.taper)"
"$TAPER" merge -q -o eleven.taper one.taper ten.taper
"$TAPER" decode -q -m model.tpm -o eleven eleven.taper
"$TAPER" decode -q -m model.tpm -o ten-alone ten.taper
"$TAPER" decode -q -m model.tpm -o one-alone one.taper
test "$(count_png eleven)" -eq 11
mv eleven/shard-2/0001.png eleven/star.png # the one name that clashes; `one` comes first
mv eleven/0001.png one-merged.png
mv eleven/star.png eleven/0001.png
rmdir eleven/shard-2
cmp one-merged.png one-alone/0001.png
diff -r eleven ten-alone

# classes are joined by name
mkdir left right
cp -r set/png/arrow set/png/star left
cp -r set/png/ring set/png/star right
encode -o left.taper left
encode -o right.taper right
"$TAPER" merge -q -o both.taper left.taper right.taper one.taper
info=$("$TAPER" info --json both.taper)
case $info in
    *'[{"name":"arrow","images":12},{"name":"star","images":24},{"name":"ring","images":12}]'*) ;;
    *) echo "$info"; exit 1 ;;
esac

# what is cut otherwise is refused with the remedy, which helps
head -c $(($(wc -c <ten.taper) - 99)) ten.taper >cut.taper
expect 2 'taper merge: cut.taper: *99 of its bytes*truncate --fraction 1*' \
    "$TAPER" merge -o none.taper one.taper cut.taper
"$TAPER" truncate -q --fraction 1 -o mended.taper cut.taper
"$TAPER" merge -q -o eleven-2.taper one.taper mended.taper
joins eleven-2.taper one.taper mended.taper
test ! -e none.taper
nothing_left
