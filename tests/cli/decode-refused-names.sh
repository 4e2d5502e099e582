# A name that the file system refuses is said and counted; all other images are written.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
long=$(printf '%0250d' 7)
mkdir -p some/fine
cp set/png/arrow/0001.png some/1.png
cp set/png/bolt/0001.png "some/$long.more" # decoded as ...more.png: 259 bytes
cp set/png/cross/0001.png some/fine/2.png
cp set/png/fork/0001.png some/z.png
"$TAPER" encode -q -m model.tpm -o set.taper some
"$TAPER" info -v set.taper | grep -q "$long.more" || { echo "SKIP the name was not stored"; exit 0; }

expect 1 "*$long.more.png: the file system refuses this name: File name too long" \
    "$TAPER" decode -m model.tpm -o out set.taper
grep -q '^taper decode: set.taper: 1 image was not written, as the file system refuses the name; the rest was$' expect.err
test "$(count_png out)" -eq 3
test -s out/fine/2.png
test -s out/z.png
expect 1 '*1 image was not written*' "$TAPER" decode -f -T 1 -m model.tpm -o out set.taper
expect 1 '*1 image was not written*' "$TAPER" decode --progressive -m model.tpm -o arriving set.taper
test "$(grep -c 'refuses this name' expect.err)" -eq 1
diff -r out arriving

# the folder's name is refused
mkdir -p many/x
cp some/1.png some/z.png many/x
cp some/fine/2.png many
"$TAPER" encode -q -m model.tpm -o plain.taper many
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int mkdirat(int at, const char *path, unsigned mode) {
    if (strcmp(path, "x")) return (int)syscall(SYS_mkdirat, at, path, mode);
    errno = EILSEQ;
    return -1;
}
C
cc=${CC:-cc}
command -v "$cc" >/dev/null || exit 0
"$cc" -shared -fPIC -o shim.so shim.c
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
LD_PRELOAD=./shim.so expect 1 '*folder/x/*.png: the file system refuses this name: cannot make the folder*' \
    "$TAPER" decode -m model.tpm -o folder plain.taper
grep -q '2 images were not written, as the file system refuses the names' expect.err
test "$(count_png folder)" -eq 1
nothing_left
