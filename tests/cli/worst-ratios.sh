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
"$TAPER" encode -q -m model.tpm -o honest.taper set/png/ring/0001.png
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

# the limits are raised by their options, and the front matter of a large set that was cut still decodes
expect 6 '*--max-images 67108864*' "$TAPER" info front-26.taper
expect 0 '*' "$TAPER" info --max-images 4M front-22.taper
expect 6 '*--max-model*' "$TAPER" info "$corpus/model/few-bytes-many-weights.tpm"
expect 0 '*' "$TAPER" info --max-model 600M "$corpus/model/few-bytes-many-weights.tpm"
