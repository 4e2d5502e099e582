# The second example program reads one image out of another process's memory by ranges: of its data no
# more than the image's own chunks, whatever the layout, the layers and the way that bytes take.
[ -x "$B/ranges" ] || { echo "there is no $B/ranges" >&2; exit 1; }
"$SAMPLES" scenes big --count 3 >/dev/null
"$SAMPLES" small little --count 12 --format png >/dev/null
"$TAPER" encode --best -q --layout image -o alone.taper big
"$TAPER" encode --best -q -o set.taper big
"$TAPER" encode --best -q --layout image -m tiny -o little.taper little/png
"$TAPER" encode --best -q -m tiny --embed-model --group 4 -o groups.taper little/png

read_within() { # WAY CONTAINER IMAGE [LAYERS]: what it says, and data at most 1.1 x the chunks
    way=$1
    shift
    "$B/ranges" "$@" >said
    grep -q "^read by $way: " said || { cat said; exit 1; }
    sed -n 's/.*data \([0-9]*\), .* chunks \([0-9]*\)$/\1 \2/p' said >figures
    awk '{ n++; if ($2 == 0 || $1 > 1.1 * $2 || $1 < $2) exit 1 } END { exit n != 1 }' figures ||
        { cat said; exit 1; }
}

way=process_vm_readv
"$B/ranges" alone.taper >said
grep -q '^read by process_vm_readv' said || way=pipe # as where processes may not see each other
for image in 0 1 2; do
    read_within $way alone.taper $image
    read_within $way set.taper $image
    read -r whole x <figures
    read_within $way set.taper $image 1
    read -r first x <figures
    test "$first" -lt "$whole"
    for file in little groups; do read_within $way $file.taper $((4 * image)); done
done
read_within $way alone.taper 1
data=$(cut -d' ' -f1 figures)
echo "one of three: $data bytes of data of a file of $(wc -c <alone.taper)"
test $((2 * data)) -lt "$(wc -c <alone.taper)"

# an image that is not there, and a file that ends too early
if "$B/ranges" alone.taper 3 2>said; then exit 1; fi
grep -q 'there is no image 3' said
head -c 4000 alone.taper >cut.taper
if "$B/ranges" cut.taper 0 2>said; then exit 1; fi
grep -q 'ends too early' said
if "$B/ranges" nothing.taper 2>said; then exit 1; fi

# where the system refuses, bytes come through a pipe
cat >refuse.c <<'C'
#include <errno.h>
#include <sys/types.h>
struct iovec;
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n,
                         const struct iovec *there, unsigned long m, unsigned long flags) {
    (void)pid, (void)here, (void)n, (void)there, (void)m, (void)flags;
    errno = EPERM;
    return -1;
}
C
${CC:-cc} -shared -fPIC -o refuse.so refuse.c
case $B in *san*) exit 0 ;; esac # sanitizers want to come first
LD_PRELOAD=$PWD/refuse.so
export LD_PRELOAD
read_within pipe alone.taper 2
read_within pipe set.taper 0 2

# every allocation fails once: the same words, or one sentence
unset LD_PRELOAD
${CC:-cc} -std=c11 -shared -fPIC -o fail.so "$ROOT/tests/cli/fail_allocation.c"
FAIL_COUNT=count LD_PRELOAD=./fail.so "$B/ranges" groups.taper 5 >whole
all=$(cat count) n=1 failed=0
while [ "$n" -le "$all" ]; do
    code=0
    FAIL_AT=$n LD_PRELOAD=./fail.so "$B/ranges" groups.taper 5 >said 2>words || code=$?
    case $code in
    0) cmp said whole ;;
    1)  failed=$((failed + 1))
        test "$(wc -l <words)" -eq 1
        grep -q '^ranges: ' words ;;
    *)  echo "allocation $n of $all: exit code $code"
        exit 1 ;;
    esac
    n=$((n + 1))
done
echo "$failed of $all allocations are missed"
test "$failed" -gt 20
