# --max-memory is one account a run: front matter of all containers, lists of images, labels, codes and indexes
# that are open are charged to it together. What the process takes is measured.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers have memory of their own"
    exit 0
fi
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
draw() { python3 "$ROOT/tests/hostile_files.py" "$@"; }
small_set 40
"$TAPER" train -q -T 1 -w whole -k 2 -o whole.tpm set/png
"$TAPER" train-bits -q -T 1 -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm set/png
draw front 1000000 front.taper whole.tpm
draw idx 1500000 many.gz
draw labels 400000 labels.csv

# the account and what is beside it: the program, stacks, and what was freed
limited() { # MIB, VERB ARGUMENTS...: ends with 6, above a limit
    limit=$1
    shift
    draw take "$TAPER" "$@" --max-images 8M --max-memory "${limit}M" -f -o out >took 2>words
    read -r code mib _ <took
    if [ "$code" -ne 6 ] || [ "$mib" -gt $((limit + 40)) ] || [ -e out ]; then
        echo "exit code $code, $mib MiB for a limit of $limit: $*"
        cat words
        exit 1
    fi
    grep -q -e 'give --max-memory [0-9]*M' words
}
twelve=$(for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do echo front.taper; done)
limited 30 merge $twelve
limited 30 embed -m whole.tpm $twelve
limited 40 embed -m whole.tpm many.gz
limited 40 index -m bits.tpm many.gz
limited 40 encode -m whole.tpm many.gz
limited 40 train many.gz
limited 40 classify -m whole.tpm --among set/png many.gz
limited 20 index -m bits.tpm --labels labels.csv set/png
draw take "$TAPER" verify --max-memory 14M front.taper >took 2>words
read -r code mib _ <took
test "$code" -eq 6
test "$mib" -lt 40

# an index that could not be opened under the limit does not appear, and joining is charged, too
"$TAPER" index -q -m bits.tpm -o few.tpx set/png
expect 6 '*joining the indexes takes*give --max-memory 1M*' \
    "$TAPER" index --max-memory 10K -f -o joined.tpx few.tpx few.tpx
test ! -e joined.tpx
# what fits is done as ever
"$TAPER" embed -q -m whole.tpm -o all.npy set/png
"$TAPER" embed -q -m whole.tpm --max-memory 40M -o same.npy set/png
cmp all.npy same.npy
nothing_left
