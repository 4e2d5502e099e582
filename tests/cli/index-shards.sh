# index --shard: all indexes together are that of the set; --resume makes again what differs, and nothing else; the
# indexes of shards of encode are shards too; joining finds their order, and names what is wrong.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 96 --independent -e 2 --hidden 40 -o bits.tpm set/png
index() { "$TAPER" index "$@" 2>said; }
images() { index -m bits.tpm "$@"; }
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
found() { "$TAPER" search -q -m bits.tpm --exact -k 9 "$1" set/png/ring -i 1-7; }

# the same codes, names and numbers as one run: of folders, of files of many images, of a container
images -q -o one.tpx set/png
"$TAPER" encode -q -m bits.tpm -o set.taper set/png
for input in set/png set/cifar/train.bin set.taper; do
    rm -f ./[1-7].tpx
    for i in 1 2 3 4 5 6 7; do images -q --shard $i/7 -o $i.tpx $input; done
    images -q -f -o one.tpx $input
    index -q -f -o joined.tpx 7.tpx 2.tpx 1.tpx 3.tpx 6.tpx 5.tpx 4.tpx
    found one.tpx >one.csv
    found joined.tpx | cmp - one.csv
    test "$(wc -c <one.tpx)" -eq "$(wc -c <joined.tpx)"
done
# without --shard and --resume an index says nothing: the 40 bytes are 0, and all others those of --resume
images -q -f -o one.tpx set/png
images -q --resume -o said.tpx set/png
cmp -l one.tpx said.tpx | awk '$1 < 89 || $1 > 128 { bad = 1 } END { exit bad || NR < 10 }'

# what is wrong
for i in 1 2 3 4 5 6 7; do images -q -f --shard $i/7 -o $i.tpx set/png; done
join() { rm -f no.tpx; "$TAPER" index -o no.tpx "$@"; }
refused 2 'shard 4 of 7 is missing' join 1.tpx 2.tpx 3.tpx 5.tpx 6.tpx 7.tpx
refused 2 'shards 1, 4 and 7 of 7 are missing' join 2.tpx 3.tpx 5.tpx 6.tpx
test ! -e no.tpx
refused 0 'shard 4 of 7 is missing' join --partial 1.tpx 2.tpx 3.tpx 5.tpx 6.tpx 7.tpx
cp 3.tpx copy.tpx
refused 2 'copy.tpx: is shard 3 of 7, and so is 3.tpx' join 1.tpx 2.tpx 3.tpx 4.tpx 5.tpx 6.tpx 7.tpx copy.tpx
refused 2 'one.tpx: is not one of the shards' join ?.tpx one.tpx
images -q -f --shard 3/7 --alpha drop -o copy.tpx set/png
refused 2 'copy.tpx: has another model or other options' join 1.tpx 2.tpx copy.tpx 4.tpx 5.tpx 6.tpx 7.tpx
images -q -f --shard 3/7 -o copy.tpx set/cifar/train.bin
refused 2 'copy.tpx: is of another list of inputs' join 1.tpx 2.tpx copy.tpx 4.tpx 5.tpx 6.tpx 7.tpx
images -q -f --shard 3/8 -o copy.tpx set/png
refused 2 'copy.tpx: is a part of another number' join 1.tpx 2.tpx copy.tpx 4.tpx 5.tpx 6.tpx 7.tpx
refused 2 'shards 1, 3, 4, 5, 6 and 7 of 7 are missing' "$TAPER" index -m bits.tpm -o no.tpx 2.tpx set/png/ring
refused 2 'index these alone' "$TAPER" index --resume -m bits.tpm -o no.tpx one.tpx set/png/ring

# two indexes of one shard, of which one was made again
mkdir three
cp set/png/ring/000[123].png three
images -q -f --shard 2/2 -o 1.tpx three
cp set/png/star/0001.png three/0003.png
images -q -f --shard 2/2 -o 2.tpx three
refused 2 'shard 2 of 2' "$TAPER" search -m bits.tpm 1.tpx 2.tpx set/png/ring/0001.png

# a shard without images
rm ./[1-7].tpx
for i in 1 2 3 4 5; do images --shard $i/5 -o $i.tpx three; done
test "$(ls ./[1-7].tpx | tr -d '\n')" = ./2.tpx./4.tpx./5.tpx
index -q -f -o joined.tpx 5.tpx 2.tpx 4.tpx
"$TAPER" info joined.tpx | grep -q 'index of 3 images'
images -q --shard 1/1 -o 1.tpx three
images --shard 1/5 --resume -o 1.tpx three
grep -q 'shard 1 of 5 has no images, as there are only 3.*index. knows' said
test ! -e 1.tpx

# --resume
again() { # reason, options...
    reason=$1
    shift
    index --resume -o part.tpx "$@"
    grep -q "part.tpx is made again: $reason" said || { cat said; return 1; }
    cp part.tpx before
    index --resume -T 3 -o part.tpx "$@"
    grep -q 'is made already, of the same inputs' said
    cmp part.tpx before
}
cp joined.tpx part.tpx
refused 5 'does not say what it was made of' "$TAPER" index --resume -o part.tpx -m bits.tpm --shard 2/3 set/png
cmp joined.tpx part.tpx
again 'it does not say what it was made of' -f -m bits.tpm --shard 2/3 set/png
again 'it is another shard' -m bits.tpm --shard 1/3 set/png
again 'the model or options are others' -m bits.tpm --shard 1/3 --bits 90 set/png
head -c 900 part.tpx >cut
cp cut part.tpx
again 'it is damaged or cut' -m bits.tpm --shard 1/3 --bits 90 set/png
printf x | dd of=part.tpx bs=1 seek=700 conv=notrunc 2>dd
again 'it is damaged or cut' -m bits.tpm --shard 1/3 --bits 90 set/png
again 'the list of inputs is another' -m bits.tpm --bits 90 three
cp set/png/star/0002.png three/0003.png
again 'an input has changed' -m bits.tpm --bits 90 three
mkdir elsewhere
cp -r three elsewhere
again 'the list of inputs is another' -m bits.tpm --bits 90 elsewhere/three # its paths are the names
# shards of encode: one of them has an equal image, which has no code of its own
cp three/0003.png three/0004.png
for i in 1 2; do "$TAPER" encode -q -m bits.tpm --dedup --shard $i/2 -o $i.taper three; done
cp set/png/ring/0001.png three/0002.png
"$TAPER" encode -q -f -m bits.tpm --dedup --shard 1/2 -o 1.taper three
again 'the model or options are others' -m bits.tpm 1.taper
cp part.tpx 1.tpx
again 'it is another shard' -m bits.tpm 2.taper
cp part.tpx 2.tpx
refused 0 '2 images of the set have no code' join 2.tpx 1.tpx
"$TAPER" truncate -q --fraction 0.95 -o cut.taper 2.taper
cp cut.taper 2.taper
again 'the model or options are others' -m bits.tpm 2.taper
# what could not be used is tried again
head -c 90 set/png/ring/0001.png >three/0000.png
refused 1 '0000.png' "$TAPER" index -f -m bits.tpm --resume --shard 1/2 -o part.tpx three
refused 1 'it lacks images that could not be used' "$TAPER" index -m bits.tpm --resume --shard 1/2 -o part.tpx three

# nothing else is overwritten
cp set.taper kept
refused 5 'exists, and is not an index' "$TAPER" index -m bits.tpm --resume -o kept set/png
cmp set.taper kept
refused 2 shard "$TAPER" index -m bits.tpm --shard=0/3 -o no.tpx set/png
refused 2 'can be read' "$TAPER" index -m bits.tpm --resume -o - set/png
# codes that are sorted in parts where memory is short, which shows in what was measured of them
rm ./[1-7].tpx
images -q --shard 1/2 -o 1.tpx set/png
parts=0
for kib in $(seq 50 80); do
    "$TAPER" index -q -f -m bits.tpm --shard 1/2 --max-memory ${kib}K -o 2.tpx set/png 2>said || continue
    cmp -s 1.tpx 2.tpx && break
    parts=$((parts + 1))
    for i in 1 2; do found $i.tpx >$i.csv; done
    cmp 1.csv 2.csv
    "$TAPER" info 2.tpx | grep -q 'part 1 of 2 of a set of 120'
done
test $parts -gt 0
