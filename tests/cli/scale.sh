# One image of 1,000,000: at most 1 MB is read, in 64 MB of memory; a file and names of every kind. The small
# simulation of directory, merge and index runs, and the plan in docs/scale.md follows from its record.
. "$ROOT/tests/cli_helpers.sh"
drawn=$(dirname "$TAPER")/bench/bench_scale
[ -x "$drawn" ] || { echo "$drawn is missing"; exit 1; }

"$drawn" container image hashes 1000000 million.taper >figures
set -- -i 765433 -o one.png million.taper
"$drawn" run "$TAPER" decode -q --max-memory 32M "$@" 2>said
# shellcheck disable=SC2046
set -- $(tail -n 1 said)
memory=$3 read=$4
[ "$memory" -lt 64000000 ] || { echo "$memory bytes of memory"; exit 1; }
[ "$read" -lt 200000 ] || { echo "$read bytes read"; exit 1; } # 1 MB would do; it is 40 kB and programs

# the same image, with the front matter read as a whole, and by its name
"$drawn" run "$TAPER" decode -q -o many -i 765417-765433 million.taper 2>said
# shellcheck disable=SC2046
set -- $(tail -n 1 said)
[ "$4" -gt 1000000 ] || { echo "all of it is $4 bytes"; exit 1; } # else this test finds nothing
name=$(basename "$(find many -name '*8.png')")
cmp one.png "many/$name"
"$drawn" run "$TAPER" extract -q -o by-number million.taper 765433 2>said
cmp one.png "by-number/$name"
rm -r many by-number million.taper

# each part at 10,000 images
for part in merge index; do
    python3 -B "$ROOT/bench/scale.py" "$(dirname "$TAPER")" $part 1e4 --layouts image --work "$PWD" >$part.jsonl
done
grep -q '"metric":"merge_memory"' merge.jsonl
grep -q '"metric":"query_cpu"' index.jsonl

python3 -B "$ROOT/bench/scale_plan.py" >plan.jsonl
cmp plan.jsonl "$ROOT/bench/results/scale-plan.jsonl"
python3 -B "$ROOT/bench/scale_plan.py" images=1e9 core_hour=0.01 >other.jsonl
grep -q '"images":1000000000' other.jsonl
expect 1 '*unknown: euros*' python3 -B "$ROOT/bench/scale_plan.py" euros=1
