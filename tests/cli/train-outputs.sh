# What `train` writes is none of what it reads, and no file that is not its own: refused before anything is
# learned, with every byte as it was.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
cp -r set before
cut -d/ -f3 >labels <<L
$(find set/png -name '*.png' | sort)
L
find set/png -name '*.png' | sort >list
cp labels labels.before
cp list list.before
cp model.tpm model.before
image=set/png/bolt/0003.png
stem=set/png/bolt/0003
learn() { "$TAPER" train-labels -q -f --objective nca --start random -k 4 -e 2 "$@"; }

# --- inputs stay ---
expect 2 "taper train*: $image: is an input too, and would be lost; give another name" learn -o $image set/png
expect 2 "taper train*: $image: is an input too*" learn -o new.tpm --checkpoint $image --resume set/png
expect 2 "taper train*: $image: is an input too*" learn -o new.tpm --log $image set/png
expect 2 "taper train*: $image: is an input too*" learn -o new.tpm --plot $stem set/png
cp $image swept-sweep.png
expect 2 'taper train*: swept-sweep.png: is an input too*' learn -o new.tpm --plot swept swept-sweep.png set/png
cmp $image swept-sweep.png
expect 2 'taper train*: ./labels: is an input too*' learn -o ./labels --labels labels --filelist list
expect 2 'taper train*: list: is an input too*' learn -o list --labels labels --filelist list
expect 2 "taper train*: $image: is an input too*" "$TAPER" train -q -f --window 8 -o $image set/png
diff -r set before
cmp labels labels.before
cmp list list.before

# --- a checkpoint takes the place of a checkpoint alone ---
expect 5 'taper train*: model.tpm: model.tpm exists and is no checkpoint, and would be lost; give another name' \
    learn -o new.tpm --checkpoint model.tpm set/png
echo words >new.8x8
expect 5 'taper train*: new: new.8x8 exists and is no checkpoint*' "$TAPER" train -q -f --family dense --hidden 8 \
    --epochs 1 --set-images 1000000 --checkpoint new -o new.tpm set/png
expect 3 'taper train*: model.tpm: this is not a checkpoint of taper; give another name' \
    learn -o new.tpm --checkpoint model.tpm --resume set/png
expect 5 'taper train*: no/such: cannot create a file *' learn -o new.tpm --checkpoint no/such set/png
expect 2 'taper train*: --output and --checkpoint are the same; give two names*' \
    learn -o new.tpm --checkpoint new.tpm set/png
expect 2 'taper train*: --checkpoint and --log are the same*' learn -o new.tpm --checkpoint c --log c set/png
cmp model.tpm model.before
test ! -e new.tpm
learn -o new.tpm --checkpoint saved set/png
learn -o new.tpm --checkpoint saved set/png
expect 2 'taper train*: new.tpm: the checkpoint saved belongs to a run with other options, another network or *' \
    learn -o new.tpm --checkpoint saved --resume -k 5 set/png
: >empty
learn -o new.tpm --checkpoint empty set/png
cmp saved empty

# --- without -f nothing of an earlier run is lost: its log, its pictures, its checkpoints ---
fresh() { rm -f fresh.tpm; "$TAPER" train-labels -q --objective nca --start random -k 4 -e 2 -o fresh.tpm "$@" set/png; }
lost='cannot write: File exists; choose another name or allow overwriting (-f)'
fresh --log curve --plot drawn
cp curve curve.before
cp drawn.csv drawn.before
expect 5 "taper train*: curve: $lost" fresh --log curve
expect 5 "taper train*: drawn.csv: $lost" fresh --plot drawn
expect 5 "taper train*: drawn.csv: $lost" fresh --plot drawn --checkpoint saved --resume
test ! -e fresh.tpm
cmp curve curve.before
cmp drawn.csv drawn.before
fresh -f --log curve --plot drawn
echo >alone-sweep.svg
: >nothing
expect 5 "taper train*: alone-sweep.svg: $lost" fresh --plot alone
fresh --log /dev/null
fresh --log nothing # there is nothing to lose

fresh --checkpoint run --log grown
cp run run.before
was=$(grep -c '' grown)
earlier='is the checkpoint of an earlier run, and would be lost; go on from it with --resume, *(-f)'
expect 5 "taper train*: run: run $earlier" fresh --checkpoint run
cmp run run.before
fresh --checkpoint run --resume --log grown # it goes on in its own log
test "$(grep -c '' grown)" -gt "$was"
head -n "$was" grown | grep -q held_out
fresh -f --checkpoint run
mkdir deep
for beside in .8x8 .10x9.bits.head .conv; do # those of networks, too
    cp run.before deep/run$beside
    expect 5 "taper train*: deep/run: deep/run$beside $earlier" fresh --checkpoint deep/run
    rm deep/run$beside
done
cp run.before deep/run.old # another's
cp run.before deep/running
fresh --checkpoint deep/run
cmp run.before deep/run.old

# --- a log that is not whole is said to be so ---
if [ -c /dev/full ]; then
    expect 0 'taper train*: /dev/full: warning: not all of it could be written*' \
        learn -o new.tpm --log /dev/full set/png
fi
nothing_left
