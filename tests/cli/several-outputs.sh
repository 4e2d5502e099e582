# Of several outputs none appears where a later one fails; pictures that a page cannot show are named, exit code 1.
. "$ROOT/tests/cli_helpers.sh"
test -c /dev/full || { echo "SKIP no /dev/full here"; exit 0; }
small_set 120
"$TAPER" train -q -T 1 -w whole -k 2 -o whole.tpm set/png
known_and_new
none() { # none of the outputs, and nothing else
    for output in codes labels page; do test ! -e $output; done
    nothing_left
}
full='*/dev/full: *No space left*'
embed() { "$TAPER" embed -m whole.tpm "$@"; }
expect 5 "$full" embed -o codes --map page --labels-out /dev/full known
none
expect 5 "$full" embed -o codes --map /dev/full --labels-out labels known
none
expect 5 "$full" embed -o /dev/full --map page --labels-out labels known
none
classify() { "$TAPER" classify --among known -k 1 "$@"; }
expect 5 "$full" classify -o codes --page /dev/full new
none
expect 5 "$full" classify -o /dev/full --page page new
none
"$TAPER" train-bits -q -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o few.tpx known
search() { "$TAPER" search -k 1 -i 1 --images known "$@" few.tpx; }
expect 5 "$full" search -o codes --html /dev/full
none
expect 5 "$full" search -o /dev/full --html page
none
"$TAPER" encode --best -q -m whole.tpm -o set.taper set/idx/images.idx --labels set/idx/labels.idx
ln -s /dev/full some-labels.idx
expect 5 '*some-labels.idx: *No space left*' "$TAPER" decode -f -m whole.tpm --format idx -o some.idx set.taper
test ! -e some.idx
rm some-labels.idx
expect 0 'taper decode: labels in some-labels.idx' "$TAPER" decode -m whole.tpm --format idx -o some.idx set.taper
test -s some.idx
test -s some-labels.idx
none
expect 0 '*' embed -o codes --map page --labels-out labels known
for output in codes labels page; do test -s $output; done
rm codes page labels

# an image that is there when its code is made, and cannot be read when its picture is wanted
if grep -q __asan_init "$TAPER"; then exit 0; fi
cat >once.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
static int times; /* the third time that a file of this name is opened fails */
#define OPEN(NAME)                                       \
int NAME(const char *path, int flags, ...) {             \
    va_list rest;                                        \
    va_start(rest, flags);                               \
    const int mode = flags & O_CREAT ? (int)va_arg(rest, mode_t) : 0; \
    va_end(rest);                                        \
    if (strstr(path, "new/ring/0009.png") && ++times > 2) return errno = ENOENT, -1; \
    int (*real)(const char *, int, ...);                 \
    *(void **)&real = dlsym(RTLD_NEXT, #NAME);           \
    return real(path, flags, mode);                      \
}
OPEN(open)
OPEN(open64)
C
${CC:-cc} -shared -fPIC -o once.so once.c || exit 0
expect 1 '*ring/0009.png: the page shows no picture of it*' \
    env LD_PRELOAD="$PWD/once.so" "$TAPER" classify -T 1 --among known -k 1 -o codes --page page new
for output in codes page; do test -s $output; done
