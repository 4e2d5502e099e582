# Every allocation fails once, in encode, decode, repack, merge, embed, classify, index, search and train. The verb then
# ends with exit code 6 and one sentence and leaves nothing behind (decode: but whole images, as ever),
# or can do without (a pool has fewer threads, stdio no buffer, a library another way), and then writes
# the same bytes as ever. Of train one allocation in four is tried, from a printed seed on, of embed,
# classify, index and search one in two, of their pages one in four, and of encoding a set so small that its cuts are rendered, which makes the same
# ones for every cut, one in eight; all of them with TAPER_EVERY_ALLOCATION=1.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers have an allocator of their own"
    exit 0
fi
cc -std=c11 -Wall -Wextra -Werror -O1 -shared -fPIC -o fail.so "$ROOT/tests/cli/fail_allocation.c"
seed=${TAPER_TEST_SEED:-$(date +%s)}
echo "seed $seed"

"$SAMPLES" small set --count 6 --format png >/dev/null
mkdir pictures
cp -r set/png/cross set/png/ring pictures
"$TAPER" train -q --window 8 -o model.tpm pictures
"$TAPER" encode -q -m model.tpm -o one.taper pictures/cross
"$TAPER" encode -q -m model.tpm -o two.taper pictures/ring

wrong() { # number, what
    echo "$verb, allocation $1 of $all: $2 (exit code $code)"
    cat words
    exit 1
}

# Nothing of the output, or whole files of it.
check_rest() { # number
    [ -z "$(find . -name '.taper-*')" ] || wrong "$1" 'a temporary file is left'
    if [ "$verb" != decode ]; then
        [ ! -e out ] || wrong "$1" 'an output is left'
        return
    fi
    [ ! -d out ] || (cd out && find . -type f) >rest
    while read -r file; do
        cmp -s "out/$file" "whole/$file" || wrong "$1" "$file is not what it should be"
    done <rest
}

fail_each() { # step, first, VERB ARGUMENTS...; the output is `out`
    step=$1 n=$2 verb=$3
    shift 2
    rm -rf out whole
    : >rest
    FAIL_COUNT=count LD_PRELOAD=./fail.so "$TAPER" "$@"
    mv out whole
    read -r all <count
    [ "$all" -gt 50 ]
    failed=0
    while [ "$n" -le "$all" ]; do
        code=0
        FAIL_AT=$n LD_PRELOAD=./fail.so timeout 60 "$TAPER" "$@" >words 2>&1 || code=$?
        case $code in
        0)  ! grep -qv ': warning: ' words || wrong "$n" 'words, but no failure'
            diff -r out whole >/dev/null || wrong "$n" 'another output' ;;
        6)  [ "$(grep -vc ': warning: ' words)" -eq 1 ] || wrong "$n" 'not one sentence'
            grep -v ': warning: ' words | grep -q "^taper $verb: " || wrong "$n" 'another sentence'
            check_rest "$n"
            failed=$((failed + 1)) ;;
        *)  wrong "$n" 'another end' ;;
        esac
        rm -rf out
        n=$((n + step))
    done
    [ "$failed" -gt $((all / step / 5)) ]
}

some() { # one in N, VERB ARGUMENTS...
    one_in=$1
    shift
    [ -z "${TAPER_EVERY_ALLOCATION:-}" ] || one_in=1
    fail_each "$one_in" $((seed % one_in + 1)) "$@"
}

mkdir large # more pixels than those of a set whose cuts are rendered
awk 'BEGIN { print "P3 72 64 255"; for (i = 0; i < 3 * 72 * 64; i++) print i * 7 % 251 }' >large/a.ppm
fail_each 1 1 encode -q -T 1 -m model.tpm -o out large
fail_each 1 1 decode -q -T 1 -m model.tpm -o out one.taper
fail_each 1 1 repack -q -m model.tpm --layout image -o out one.taper
fail_each 1 1 merge -q -o out one.taper two.taper
"$TAPER" train -q --window whole -k 2 -o whole.tpm pictures
some 2 embed -q -T 1 -m whole.tpm -o out pictures
some 2 classify -q -T 1 -k 1 --among pictures -o out pictures
"$TAPER" encode -q -m whole.tpm -o whole.taper pictures
some 2 embed -q -T 1 -m whole.tpm -o out whole.taper
cp -r pictures mixed
cp pictures/ring/*1.png mixed/loose.png
some 2 classify -q -T 1 -k 1 --unlabelled -o out mixed
cp -r pictures twice
for class in cross ring; do cp pictures/$class/*.png twice/$class/again.png; done
some 4 classify -q -T 1 -k 1 --leave-one-out --among twice -o /dev/null --page out
some 4 embed -q -T 1 -m whole.tpm --map out twice
# images of another size are scaled, by an allocation each: index, search, and embedding models in embed and classify
"$TAPER" train-bits -q -T 1 -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm pictures
"$TAPER" train-labels -q -T 1 --objective nca --code binary -w 8 -k 8 -e 1 -o labels.tpm twice
"$TAPER" index -q -m bits.tpm -o few.tpx pictures
some 2 index -q -T 1 -m bits.tpm -o out large pictures
some 2 search -q -T 1 -m bits.tpm -o out few.tpx large pictures
mkdir scaled
cp large/a.ppm pictures/ring/0001.png scaled
some 2 search -q -T 1 --duplicates -o out scaled
some 2 embed -q -T 1 -m labels.tpm -o out large pictures
some 2 classify -q -T 1 -m labels.tpm -k 1 --among pictures -o out large
some 8 encode -q -T 1 -m model.tpm -o out pictures
some 4 train -q -T 1 --window 8 -o out pictures
