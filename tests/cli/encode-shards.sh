# encode --shard: all shards together are the set, in its order; --resume makes again what differs, and nothing
# else, wherever the inputs lie and whatever their times are.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
encode() { "$TAPER" encode -m model.tpm "$@" 2>said; }
refused() { # exit code, words, command...
    want=$1 words=$2
    shift 2
    if "$@" 2>refusal; then got=0; else got=$?; fi
    test "$got" -eq "$want" && grep -q -e "$words" refusal || {
        echo "$*: exit code $got"
        cat refusal
        return 1
    }
}

# the same images in the same order as one run, of folders and of files of many images; bytes of layout image
for input in set/png set/cifar/train.bin; do
    for layout in set image; do
        rm -f ./*.taper
        for i in 1 2 3 4 5 6 7; do encode -q --layout $layout --shard $i/7 -o $i.taper $input; done
        encode -q --layout $layout -o one.taper $input
        "$TAPER" merge -q -o merged.taper ?.taper
        "$TAPER" verify --strict merged.taper | grep -q ': whole'
        "$TAPER" decode -q -m model.tpm -o merged merged.taper
        "$TAPER" decode -q -m model.tpm -o one one.taper
        diff -r merged one
        "$TAPER" ls one.taper >one.list
        "$TAPER" ls merged.taper >merged.list
        cmp one.list merged.list
        rm -r merged one
    done
done

# merge finds the order, and what is wrong
"$TAPER" merge -q -o sorted.taper 7.taper 2.taper 1.taper 3.taper 6.taper 5.taper 4.taper
cmp sorted.taper merged.taper
# more files than the soft limit of open files
(ulimit -Sn 8 && "$TAPER" merge -q -f -o sorted.taper [1-7].taper)
merge() { rm -f no.taper; "$TAPER" merge -o no.taper "$@"; }
refused 2 'shard 4 of 7 is missing' merge 1.taper 2.taper 3.taper 5.taper 6.taper 7.taper
refused 2 'shards 1, 4 and 7 of 7 are missing' merge 2.taper 3.taper 5.taper 6.taper
test ! -e no.taper
refused 0 'shard 4 of 7 is missing' merge --partial 1.taper 2.taper 3.taper 5.taper 6.taper 7.taper
cp 3.taper copy.taper
refused 2 'is shard 3 of 7, and so is' merge 1.taper 2.taper 3.taper 4.taper 5.taper 6.taper 7.taper copy.taper
"$TAPER" info 3.taper | grep -q 'shard *3 of 7, of a set of 100 images'
"$TAPER" info --json 3.taper | grep -q '"part":{"number":3,"of":7,"images_of_set":100,"left_out":0}'
refused 2 'one.taper: is not one of the shards' merge ?.taper one.taper
encode -q -f --layout image --best --shard 3/7 -o copy.taper set/cifar/train.bin
refused 2 'copy.taper: has another model or other options' merge 1.taper 2.taper copy.taper 4.taper 5.taper 6.taper 7.taper
encode -q -f --layout image --shard 3/7 -o copy.taper set/cifar/test.bin
refused 2 'copy.taper: is of another list of inputs' merge 1.taper 2.taper copy.taper 4.taper 5.taper 6.taper 7.taper
encode -q -f --layout image --shard 3/8 -o copy.taper set/cifar/train.bin
refused 2 'copy.taper: is a part of another number' merge 1.taper 2.taper copy.taper 4.taper 5.taper 6.taper 7.taper

# any number of shards of pictures, icons and both, of which each image ends at a quality
"$SAMPLES" scenes mixed --count 12
for i in 1 2 3 4 5 6; do
    for class in arrow cross ring star; do cp "set/png/$class/000$i.png" "mixed/$i-$class.png"; done
done
for layout in set gallery; do
    rm -rf ./*.taper merged apart
    mkdir apart
    i=0
    while test $((i += 1)) -le 24; do
        "$TAPER" encode -q -m tiny --layout $layout --shard $i/24 -o $i.taper mixed
        "$TAPER" decode -q -f -o apart $i.taper
    done
    "$TAPER" merge -q -o merged.taper ./*.taper
    "$TAPER" decode -q -o merged merged.taper
    diff -r merged apart
done
"$TAPER" encode -q -m tiny --layout gallery -o one.taper mixed
rm -r apart
"$TAPER" decode -q -o apart one.taper
diff -r merged apart
rm -r mixed merged apart

# images without names get the numbers of the set, also where others have names
mkdir named
cp set/png/ring/000[1-3].png named
inputs="named/0001.png named/0002.png set/cifar/test.bin named/0003.png"
rm -f ./*.taper
for i in 1 2 3; do
    # shellcheck disable=SC2086
    encode -q --shard $i/3 -o $i.taper $inputs
done
# shellcheck disable=SC2086
encode -q -o one.taper $inputs
"$TAPER" merge -q -o merged.taper ?.taper
for file in one merged; do "$TAPER" decode -q -m model.tpm -o $file $file.taper; done
test "$(cd one && ls)" = "$(cd merged && ls)"
# rate classes without images end with merging: there is room for other containers
"$TAPER" merge -q -o more.taper merged.taper one.taper
rm -r one merged

# a shard without images
rm -f ./*.taper
mkdir three
cp set/png/ring/000[123].png three
for i in 1 2 3 4 5; do encode --shard $i/5 -o $i.taper three; done
test "$(ls ./*.taper | tr -d '\n')" = ./2.taper./4.taper./5.taper
encode --shard 1/5 -o 1.taper three
grep -q 'shard 1 of 5 has no images, as there are only 3' said
"$TAPER" merge -q -o merged.taper 5.taper 2.taper 4.taper
test "$("$TAPER" ls merged.taper | wc -l)" -eq 3
rm merged.taper
encode -q --shard 1/1 -o 1.taper three
encode --shard 1/5 --resume -o 1.taper three # it would be taken for the shard
test ! -e 1.taper

# --resume: the same file stays, under other folders, times, limits and threads
same() {
    cp "$1" before
    shift
    encode --resume "$@"
    grep -q 'is made already, of the same inputs' said
    cmp before part.taper
}
again() { # reason, options...
    reason=$1
    shift
    encode --resume "$@"
    grep -q "part.taper is made again: $reason" said || { cat said; return 1; }
    encode --resume "$@"
    grep -q 'is made already' said
}
# several jobs with one shard
jobs=
for i in 1 2 3; do
    "$TAPER" encode -q -m model.tpm --resume --shard 2/3 -o part.taper set/png 2>job-$i &
    jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
echo other >part.taper
refused 5 'is not a container' "$TAPER" encode -m model.tpm --resume --shard 2/3 -o part.taper set/png
rm part.taper
encode --resume --shard 2/3 -o part.taper set/png
same part.taper --shard 2/3 -o part.taper set/png
mkdir elsewhere
cp -r set/png elsewhere
find elsewhere -exec touch -d 2001-01-01 {} +
same part.taper --shard 2/3 -T 3 --max-memory 1G -o part.taper elsewhere/png/
again 'the model or options are others' --shard 2/3 --best -o part.taper set/png
again 'it is another shard' --shard 1/3 --best -o part.taper set/png
"$TAPER" train -q --window 8 -k 40 -o other.tpm set/png/ring
again 'the model or options are others' --shard 1/3 --best -m other.tpm -o part.taper set/png
head -c 3000 part.taper >cut
cp cut part.taper
again 'it is damaged or cut' --shard 1/3 --best -m other.tpm -o part.taper set/png
printf x | dd of=part.taper bs=1 seek=3000 conv=notrunc 2>dd
again 'it is damaged or cut' --shard 1/3 --best -m other.tpm -o part.taper set/png
# an image of another shard changes nothing here, one of this shard does, also at the same size and time
last=$(find elsewhere -name '*.png' | sort | tail -n 1)
again 'the model or options are others' --shard 1/3 -o part.taper elsewhere/png
cp set/png/ring/0001.png "$last"
same part.taper --shard 1/3 -o part.taper elsewhere/png
encode -q -f --shard 1/1 --resume -o part.taper set/cifar/train.bin
cp set/cifar/train.bin train.bin
printf '\0\377' | dd of=train.bin bs=1 seek=70000 conv=notrunc 2>dd
again 'an input has changed' --shard 1/1 -o part.taper train.bin
cp set/png/ring/0001.png elsewhere/png/ring/one-more.png
encode -q -f --shard 1/3 -o part.taper set/png
again 'the list of inputs is another' --shard 1/3 -o part.taper elsewhere/png
"$TAPER" truncate -q --fraction 0.9 -o cut.taper part.taper
mv cut.taper part.taper
cp part.taper cut.taper
refused 5 'does not say what it was made of' "$TAPER" encode --resume -m model.tpm --shard 1/3 -o part.taper elsewhere/png
cmp cut.taper part.taper
again 'it does not say what it was made of' -f --shard 1/3 -o part.taper elsewhere/png
# what could not be used may be usable elsewhere: it is tried again. Files without an image are told once
head -c 90 set/png/ring/0001.png >three/0000.png
echo no image >three/0009.png
refused 1 '0000.png' "$TAPER" encode -m model.tpm --resume --shard 1/2 -o part-1.taper three
refused 1 'it lacks images that could not be used' "$TAPER" encode -m model.tpm --resume --shard 1/2 -o part-1.taper three
refused 0 made "$TAPER" encode -m model.tpm --shard 2/2 --resume -o part.taper three

# nothing else is overwritten
cp model.tpm kept
refused 5 'exists, and is not a' "$TAPER" encode -m model.tpm --resume -o kept set/png
cmp model.tpm kept
for wrong in 0/3 4/3 1/0 1 /3 1/ 1/3x 1/1048577 -1/3 1.5/3; do
    refused 2 shard "$TAPER" encode -m model.tpm --shard=$wrong -o no.taper set/png
done
refused 2 'counts* from 1' "$TAPER" encode -m model.tpm --shard 0/3 -o no.taper set/png
refused 2 'limits of the size' "$TAPER" encode -m model.tpm --shard 1/3 -b 10k -o no.taper set/png
refused 2 'limits of the size' "$TAPER" encode -m model.tpm --resume --psnr 30 -o no.taper set/png
refused 2 'can be read' "$TAPER" encode -m model.tpm --resume -o - set/png
refused 2 'taper encode' "$TAPER" add --shard 1/2 part.taper set/png
test ! -e no.taper
