# samples/cluster: a set is encoded in shards by xargs and by GNU parallel, on one host and on several that share a folder;
# the file has the pixels of one run. What is done is left, what failed or was killed is made again.
. "$ROOT/tests/cli_helpers.sh"
needs xargs:findutils
small_set 40
scripts=$ROOT/samples/cluster
export TAPER
options="-m model.tpm --best"
"$TAPER" encode -q $options -o one.taper set/png
"$TAPER" decode -q -m model.tpm -o one one.taper

# a taper that says what it did, in one line a run, and may fail
mkdir bin
cat >bin/taper <<'P'
#!/bin/sh
shard=$(echo "$*" | sed -n 's/.*--shard \([0-9]*\).*/\1/p')
if [ -n "$shard" ] && [ -e "fail-$shard" ]; then
    rm "fail-$shard"
    echo "$1 $shard fails" >>runs
    exit 5
fi
if [ -n "$shard" ] && [ -e "hang-$shard" ]; then
    rm "hang-$shard"
    echo $$ >hanging
    exec sleep 1000
fi
"$REAL" "$@" 2>said.$$
code=$?
made=made
if grep -q "is made already" said.$$; then made=kept; fi
echo "$1 $shard $made" >>runs
rm said.$$
exit $code
P
chmod +x bin/taper
REAL=$TAPER TAPER=$PWD/bin/taper OPTIONS=$options SHARDS=6 JOBS=2 BEAT=1
export REAL TAPER OPTIONS SHARDS JOBS BEAT

pixels_of_one_run() {
    rm -rf got
    "$REAL" decode -q -m model.tpm -o got "$1"
    diff -r one got
}
fresh() { rm -rf out.taper* runs; }

# indexes of the parts, made beside them
"$REAL" train-bits -q -w whole -k 64 --independent -e 1 --hidden 20 -o bits.tpm set/png
OPTIONS="$options --embed-with bits.tpm" INDEX="-m bits.tpm" sh "$scripts/encode-xargs.sh" out.taper set/png
"$REAL" index -q -o all.tpx out.taper.shards/*.tpx
"$REAL" info all.tpx | grep -q 'an index of 40 images'
pixels_of_one_run out.taper
fresh

for engine in xargs parallel; do
    if [ $engine = parallel ] && ! command -v parallel >/dev/null; then
        echo "SKIP parallel (package parallel) is not installed"
        exit 0
    fi
    encode="sh $scripts/encode-$engine.sh out.taper set/png"
    fresh
    $encode
    pixels_of_one_run out.taper
    test "$(grep -c '^encode [1-6] made$' runs)" -eq 6
    grep -qx 'merge  made' runs
    # all is there: nothing is done; without the claims, the parts are compared and left
    rm runs
    $encode 2>err
    grep -q 'all parts were made before' err
    test ! -e runs
    rm -r out.taper.claims
    $encode
    test "$(grep -c '^encode [1-6] kept$' runs)" -eq 6
    # a part that is lost or damaged is made again, the others are left
    rm -r out.taper.claims runs out.taper.shards/part-000003-of-000006.taper
    head -c 2000 out.taper.shards/part-000005-of-000006.taper >"cut"
    mv cut out.taper.shards/part-000005-of-000006.taper
    $encode
    test "$(grep ' made$' runs | sort | tr '\n' ' ')" = 'encode 3 made encode 5 made merge  made '
    test "$(grep -c ' kept$' runs)" -eq 4
    pixels_of_one_run out.taper

    # a shard that fails is tried again, three times in all
    fresh
    : >fail-2
    $encode 2>err
    grep -qx 'encode 2 fails' runs
    pixels_of_one_run out.taper
    fresh
    for _ in 1 2 3; do
        : >fail-4
        expect 1 '*failed: shards 4*' env TRIES=1 $encode
    done
    test ! -e out.taper
    test "$(grep -c ' made$' runs)" -eq 5 # what is claimed as done is not made again
    $encode
    pixels_of_one_run out.taper

    # three hosts at once: each shard once, and one merges
    fresh
    for _ in 1 2 3; do
        $encode &
        hosts="${hosts-} $!"
    done
    for host in $hosts; do wait "$host"; done
    hosts=
    test "$(sort runs | uniq -c | awk '{ $1 = $1; print }' | tr '\n' ',')" = \
        '1 encode 1 made,1 encode 2 made,1 encode 3 made,1 encode 4 made,1 encode 5 made,1 encode 6 made,1 merge made,'
    pixels_of_one_run out.taper

    # a host that dies loses its shard to another one, which waits for five beats
    fresh
    : >hang-1
    setsid $encode 2>/dev/null &
    host=$!
    await hanging
    kill -KILL $(ps -o pid= -s "$host") 2>/dev/null || true
    wait
    rm hanging
    $encode 2>err
    grep -q 'the process that had 1 has died: it is made again' err
    test "$(grep -c '^encode 1 made$' runs)" -eq 1
    pixels_of_one_run out.taper
done
test "$(sed 1d out.taper.claims/*.joblog | wc -l)" -ge 5

# a size for the whole; more shards than images; names with blanks
fresh
BYTES=20KB SHARDS=50 sh "$scripts/encode-xargs.sh" out.taper set/png
test "$(wc -c <out.taper)" -le 20000
"$REAL" ls out.taper.whole | sort >names
"$REAL" ls one.taper | sort | cmp - names
fresh
cp -r set/png 'a set'
sh "$scripts/encode-xargs.sh" 'out.taper' 'a set'
"$REAL" decode -q -m model.tpm -o blank out.taper
diff -r one blank
expect 2 'usage: SHARDS=N sh */encode-xargs.sh OUT.taper INPUT...' sh "$scripts/encode-xargs.sh" out.taper
expect 2 'usage: SHARDS=N sh encode-slurm.sh OUT.taper INPUT...' sh "$scripts/encode-slurm.sh" out.taper
nothing_left
