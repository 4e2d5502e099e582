# Names that differ by case alone: said, with their number, by encode, merge and decode; from
# decode, two files where the file system tells them apart, and -2 behind the second where it does not.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
mkdir -p some/deep
cp set/png/arrow/0001.png some/cat.png
cp set/png/bolt/0001.png some/Cat.png
cp set/png/cross/0001.png some/CAT-2.png
cp set/png/fork/0001.png some/deep/cat.png
cp set/png/star/0001.png "some/$(printf '\303\211t\303\251.png')"  # E and e with an accent
cp set/png/star/0002.png "some/$(printf '\303\251t\303\211.png')"
alone="differ from others by case only; on a system that ignores case their files would be one"
expect 0 "taper encode: set.taper: warning: 2 names, such as 'Cat.png', $alone" \
    "$TAPER" encode -q -m model.tpm -o set.taper some
mkdir one two # of several containers; a name that two of them have is none that differs
cp some/cat.png one/cat.png
cp some/Cat.png one/dog.png
cp some/Cat.png two
cp one/dog.png two
for n in one two; do
    "$TAPER" encode -q -m model.tpm -o $n.taper $n 2>err
    test "$(grep -c 'by case only' err)" -eq 0
done
expect 0 "taper merge: both.taper: warning: 1 name, such as 'Cat.png', differs from others by case only; on a *" \
    "$TAPER" merge -q -o both.taper one.taper two.taper
expect 0 '*' "$TAPER" merge -q -o again.taper one.taper one.taper
test ! -s expect.err
expect 0 "taper decode: set.taper: warning: 2 names, such as 'C*', differ from others by case only; on a system*" \
    "$TAPER" decode -m model.tpm -o out set.taper
test "$(count_png out)" -eq 6
expect 0 '*' "$TAPER" decode -m model.tpm -i cat.png,deep/cat.png -o two set.taper
test "$(grep -c warning expect.err)" -eq 0

# a file system that ignores case, as far as decode can see
cc=${CC:-cc}
command -v "$cc" >/dev/null || exit 0
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static const char *fold(int at, const char *path, char to[4096]) {
    if (at == AT_FDCWD || strlen(path) >= 4096) return path;
    size_t i = 0;
    for (; path[i]; i++) to[i] = path[i] >= 'A' && path[i] <= 'Z' ? path[i] + 32 : path[i];
    to[i] = 0;
    return to;
}
int openat64(int at, const char *path, int flags, ...) {
    char to[4096];
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return (int)syscall(SYS_openat, at, fold(at, path, to), flags, mode);
}
int openat(int at, const char *path, int flags, ...) __attribute__((alias("openat64")));
int fstatat64(int at, const char *path, struct stat64 *st, int flags) {
    char to[4096];
    return (int)syscall(SYS_newfstatat, at, fold(at, path, to), st, flags);
}
int unlinkat(int at, const char *path, int flags) {
    char to[4096];
    return (int)syscall(SYS_unlinkat, at, fold(at, path, to), flags);
}
int linkat(int from_at, const char *from, int to_at, const char *path, int flags) {
    char a[4096], b[4096];
    return (int)syscall(SYS_linkat, from_at, fold(from_at, from, a), to_at, fold(to_at, path, b), flags);
}
C
"$cc" -shared -fPIC -o shim.so shim.c 2>/dev/null || exit 0
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
LD_PRELOAD=./shim.so expect 0 "*differ from others by case only; this file system ignores case*" \
    "$TAPER" decode -m model.tpm -o folded set.taper
test "$(count_png folded)" -eq 6
cmp folded/cat-2.png out/CAT-2.png # the names come in the order of their bytes
cmp folded/cat.png out/Cat.png
cmp folded/cat-3.png out/cat.png
nothing_left
