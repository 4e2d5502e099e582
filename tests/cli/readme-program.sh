# The README's C program, as it stands there, renders the README's first container, whole and cut: the
# library finds the model that ships. So do the other ways to open a container without a model.
CC=${CC:-cc} sanitised=
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then sanitised="-fsanitize=address,undefined"; fi
"$SAMPLES" scenes photos --count 3 2>/dev/null
mkdir bin include
ln -s "$TAPER" bin/taper
sed -n '/^```console$/,/^```$/s/^\$ //p' "$ROOT/README.md" | grep '^taper encode' | head -n 1 >command
PATH=$PWD/bin:$PATH sh -eu command 2>said || { cat said; exit 1; }

# the installed header is one file: here those of the tree stand in its place
echo '#include "codec/taper.h"' >include/taper.h
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$ROOT/README.md" >program.c
libraries="$(pkg-config --libs libzstd libxxhash 2>/dev/null) -lm -pthread"
build() { # program.c
    # shellcheck disable=SC2086
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror $sanitised -Iinclude -I"$ROOT" -o "${1%.c}" "$1" \
        "$B/libtaper.a" $libraries
}
build program.c
./program >shown
grep -q '^[0-9]* x [0-9]* pixels, [13] channels$' shown
mkdir cut
head -c 20000 photos.taper >cut/photos.taper
(cd cut && ../program) | diff shown -
head -c 40 photos.taper >cut/photos.taper
if (cd cut && ../program) >said; then exit 1; fi
grep -q '^incomplete header, need ' said

# a source, ranges, and repack
cat >others.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taper.h>
static unsigned char bytes[1 << 26];
static size_t size, written;
static taper_status get(void *user, uint64_t at, void *to, size_t n) {
    (void)user;
    if (at + n > size) return TAPER_ERR_TRUNCATED;
    memcpy(to, bytes + at, n);
    return TAPER_OK;
}
static taper_status put(void *user, const void *from, size_t n) {
    (void)user, (void)from;
    written += n;
    return TAPER_OK;
}
static int fail(const char *what, const taper_error *e) {
    fprintf(stderr, "%s: %s\n", what, e->text);
    return 1;
}
int main(void) {
    taper_container *container;
    taper_decoder *decoder;
    taper_verify_report report = {.size = sizeof report};
    taper_error e = {0};
    taper_sink sink = {NULL, put};
    taper_limits few = {.size = sizeof few, .max_model_bytes = 1000};
    taper_open_options small = {.size = sizeof small, .limits = &few};
    taper_source source = {.read = get};
    source.size = size = fread(bytes, 1, sizeof bytes, stdin);
    if (taper_container_open(&container, &source, NULL, &e)) return fail("open", &e);
    taper_container_close(container);
    if (taper_container_open(&container, &source, &small, &e) != TAPER_ERR_LIMIT) return 2;
    if (taper_decoder_new_streaming(&decoder, NULL, &e) ||
        taper_decoder_supply(decoder, 0, bytes, size, &e))
        return fail("supply", &e);
    taper_decoder_free(decoder);
    if (taper_repack(&source, NULL, TAPER_LAYOUT_IMAGE, 0, &sink, NULL, &e) || !written)
        return fail("repack", &e);
    if (taper_verify(&source, &report, NULL, &e)) return fail("verify", &e);
    return 0;
}
C
build others.c
./others <photos.taper
# a model that neither ships nor is carried is asked for
"$TAPER" train -q -w 8 -k 6 -o own.tpm photos
"$TAPER" encode -q -m own.tpm -o own.taper photos
mv own.taper cut/photos.taper
if (cd cut && ../program) >said; then exit 1; fi
grep -q 'does not carry its model' said
