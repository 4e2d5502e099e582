# What small hostile files take under the default limits: at most 50 times the memory and processor time of an honest
# file of their size. Files that ask for more are refused, until a limit is raised.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers have memory and time of their own"
    exit 0
fi
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
draw() { python3 "$ROOT/tests/hostile_files.py" "$@"; }
small_set 40
corpus=$ROOT/tests/fuzz/corpus
"$TAPER" train -q -T 1 -w whole -k 2 -o whole.tpm set/png
"$TAPER" encode --best -q -m model.tpm -o honest.taper set/png/ring/0001.png
for power in 20 22 26; do draw front $((1 << power)) front-$power.taper whole.tpm; done
for n in 1 64; do draw idx $((n * 1000000)) many-$n.gz; done
draw idx 600 honest.gz

# the most of these commands, in MIB and milliseconds: the worst of all that are tried
worst() { # MIB, MILLISECONDS, VERB ARGUMENTS...
    most_mib=$1 most_ms=$2
    shift 2
    draw take "$TAPER" "$@" >took 2>words
    read -r code mib ms <took
    [ "$mib" -le "$most_mib" ] && [ "$ms" -le "$most_ms" ] && return 0
    echo "$mib MiB and $ms ms, where $most_mib and $most_ms may be: $*"
    exit 1
}
honest() { # VERB ARGUMENTS...: sets honest_mib, honest_ms
    draw take "$TAPER" "$@" >took 2>words
    read -r code honest_mib honest_ms <took
    honest_ms=$((honest_ms + 10)) # as the clock is coarse
}
honest info honest.taper
for power in 20 26; do
    worst $((50 * honest_mib)) $((50 * honest_ms)) info front-$power.taper
    worst $((50 * honest_mib)) $((50 * honest_ms)) verify front-$power.taper
    worst $((50 * honest_mib)) $((50 * honest_ms)) decode -f -m whole.tpm -i 1 -o out front-$power.taper
    worst $((50 * honest_mib)) $((50 * honest_ms)) embed -f -m whole.tpm -o out.npy front-$power.taper
    worst $((50 * honest_mib)) $((50 * honest_ms)) truncate -f -b 1K -o out.taper front-$power.taper
    worst $((50 * honest_mib)) $((50 * honest_ms)) merge -f -o out.taper front-$power.taper
done
honest embed -f -m whole.tpm -o out.npy honest.gz
for n in 1 64; do
    worst $((50 * honest_mib)) $((50 * honest_ms)) embed -f -m whole.tpm -o out.npy many-$n.gz
    worst $((50 * honest_mib)) $((50 * honest_ms)) encode -f -m whole.tpm -o out.taper many-$n.gz
done
honest info whole.tpm
worst $((5 * honest_mib)) $((50 * honest_ms)) info "$corpus/model/few-bytes-many-weights.tpm"
worst $((50 * honest_mib)) $((50 * honest_ms)) search -i 0 "$corpus/container/codes-that-unpack-too-far.taper"

# pictures: 4 million pixels, all alike, in 4 to 24 kB; 200 scans; text chunks that unpack to 1 MiB each
"$TAPER" train-bits -q -T 1 -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm set/png
honest index -f -T 1 -m bits.tpm -o out.tpx set/png/ring/0001.png
for kind in jpeg scans png flat; do
    draw $kind 2000 $kind.gz # by what is in it
    worst $((5 * honest_mib)) $((10 * honest_ms)) index -f -T 1 -m bits.tpm -o out.tpx $kind.gz
    test "$code" -eq 0
    worst $((2 * honest_mib)) $((3 * honest_ms)) index -f -T 1 --max-pixels 1M -m bits.tpm -o out.tpx $kind.gz
    test "$code" -eq 6
done
draw texts 2000 texts.png
worst $((2 * honest_mib)) $((5 * honest_ms)) index -f -T 1 -m bits.tpm -o out.tpx texts.png
test "$code" -eq 0

# files of labels: as many as their size may claim; the shortest lines
draw classes 64000 classes.gz
draw short 100000 short.csv
draw labels 50000 labels.csv # of about the same size
honest index -f -T 1 -m bits.tpm --labels labels.csv -o out.tpx set/png
for labels in classes.gz short.csv; do
    worst $((5 * honest_mib)) $((5 * honest_ms)) index -f -T 1 -m bits.tpm --labels $labels -o out.tpx set/png
done
draw classes 4000000 classes.gz
expect 6 '*asks for 4000000 items*--max-images 4000000*' "$TAPER" index -f -m bits.tpm --labels classes.gz -o out.tpx set/png

# indexes: 10,000 codes, all alike, against as many of noise
draw idx 10000 same.gz
draw noise 10000 noise.idx
for codes in same.gz noise.idx; do "$TAPER" index -q -m bits.tpm -o $codes.tpx $codes; done
compare() { # VERB ARGUMENTS..., but for the index
    honest "$@" noise.idx.tpx
    worst $((5 * honest_mib)) $((10 * honest_ms)) "$@" same.gz.tpx
}
compare info
compare verify
compare search -T 1 -i 1-100
compare search -T 1 -i 1 --neighbourhood 10
compare search -T 1 --duplicates --within 0

# the limits are raised by their options, and the front matter of a large set that was cut still decodes
expect 6 '*--max-images 67108864*' "$TAPER" info front-26.taper
expect 0 '*' "$TAPER" info --max-images 4M front-22.taper
expect 6 '*--max-model*' "$TAPER" info "$corpus/model/few-bytes-many-weights.tpm"
expect 0 '*' "$TAPER" info --max-model 600M "$corpus/model/few-bytes-many-weights.tpm"
