# What `make install` leaves is enough: the example compiles against its one header, with the static
# and with the shared library, and runs.
command -v pkg-config >/dev/null || { echo "SKIP no pkg-config"; exit 0; }
CC=${CC:-cc} here=$(pwd) sanitised=
# a library built with sanitizers wants a program built with them
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then
    sanitised="-fsanitize=address,undefined"
fi

# -o all: what this run built, as it is
cd "$ROOT"
env -u MAKEFLAGS -u MFLAGS make -s -o all -o lib B="$B" PREFIX=/opt/taper DESTDIR="$here/root" install
cd "$here"
find root -type f | grep -v '^root/opt/taper/' && exit 1
at=$here/root/opt/taper

# every file of the list, and nothing that a release does not name
for file in bin/taper include/taper.h lib/libtaper.a lib/libtaper.so lib/libtaper.so.1 \
    lib/pkgconfig/taper.pc lib/cmake/taper/taper-config.cmake lib/cmake/taper/taper-config-version.cmake share/man/man1/taper.1 share/man/man3/taper.3 share/man/man5/taper.5 \
    share/bash-completion/completions/taper \
    share/zsh/site-functions/_taper share/taper/photo.tpm share/taper/tiny.tpm share/taper/search.tpm; do
    test -s "$at/$file" || { echo "$file is missing"; exit 1; }
done
test "$(find "$at/include" -type f | wc -l)" -eq 1
for verb in $("$TAPER" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    grep -q "^\.SH SYNOPSIS$" "$at/share/man/man1/taper-$verb.1"
done
"$at/bin/taper" --version | grep -q '^taper [0-9]'
# the build tree's paths stay out of it
grep -rqF "$ROOT" "$at/lib/pkgconfig" "$at/lib/cmake" "$at/share" "$at/include" && exit 1
# the header names no file that is not installed
grep -nE '(^|[^a-z.])(codec|formats|samples|tests|docs|bench)/|[A-Za-z_]+\.(h|c|md|sh|py)([^a-z]|$)' "$at/include/taper.h" |
    grep -vE '#include <std(int|def|io)\.h>|^1:/\* taper\.h ' && exit 1

# compile the examples as a user would, with the installed header
for name in example ranges alike; do
    sed 's|#include "codec/taper.h"|#include <taper.h>|' "$ROOT/samples/example/$name.c" >$name.c
    grep -q '<taper.h>' $name.c
done
export PKG_CONFIG_PATH="$at/lib/pkgconfig"
pc="pkg-config --define-variable=prefix=$at"
test "$($pc --modversion taper)" = "$("$TAPER" --version | sed 's/^taper //')"
strict="-std=c11 -Wall -Wextra -Wpedantic -Werror $sanitised"
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o shared example.c $($pc --libs taper)
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o ranges ranges.c $($pc --libs taper)
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o alike alike.c $($pc --libs taper)
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o static example.c \
    $($pc --static --libs taper | sed "s|-ltaper|$at/lib/libtaper.a|")
# the models that ship are in the library; the same as files are where modeldir says
cat >builtin.c <<'C'
#include <stdio.h>
#include <string.h>
#include <taper.h>

/* Encode one picture with a model that is built in, by name, and decode it by what the file says. */
static unsigned char file[1 << 16];
static size_t used;

static taper_status keep(void *user, const void *bytes, size_t n) {
    (void)user;
    if (n > sizeof file - used) return TAPER_ERR_IO;
    memcpy(file + used, bytes, n), used += n;
    return TAPER_OK;
}

static int round_trip(const char *name) {
    unsigned char pixels[32 * 32 * 3], back[sizeof pixels];
    taper_image image = {.width = 32, .height = 32, .channels = 3, .depth = 8, .pixels = pixels};
    taper_image drawn = {.pixels = back};
    taper_model *model = NULL, *again = NULL;
    taper_encoder *encoder = NULL;
    taper_decoder *decoder = NULL;
    taper_completeness done;
    taper_sink sink = {.write = keep};
    taper_error e = {0};
    double sum = 0;
    used = 0;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (unsigned char)(90 + i / 96 * 3 + i % 3);
    if (taper_model_builtin(&model, name, &e) || taper_encoder_new(&encoder, model, NULL, &e) ||
        taper_encoder_add(encoder, &image, "one", -1, &e) ||
        taper_encoder_finish(encoder, 0, &sink, &e) || !taper_model_builtin_for(file, used) ||
        strcmp(taper_model_builtin_for(file, 32), name) || taper_model_builtin_for(file, 31) ||
        taper_model_builtin(&again, taper_model_builtin_for(file, used), &e) ||
        taper_decoder_new_streaming(&decoder, &(taper_open_options){.size = sizeof(taper_open_options), .model = again}, &e) ||
        taper_decoder_push(decoder, file, used, &e) ||
        taper_decoder_render(decoder, 0, &drawn, &done, &e) || !done.complete) {
        fprintf(stderr, "%s: %s\n", name, e.text);
        return 1;
    }
    for (size_t i = 0; i < sizeof pixels; i++) sum += (pixels[i] - back[i]) * (pixels[i] - back[i]);
    taper_encoder_free(encoder), taper_decoder_free(decoder);
    taper_model_free(model), taper_model_free(again);
    return !(sum / sizeof pixels <= 2);
}

int main(int argc, char **argv) {
    size_t size = 1;
    taper_model *none = (taper_model *)file;
    taper_error e = {0};
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const void *tiny = taper_model_builtin_bytes("tiny", &size);
    if (!f || fread(file, 1, sizeof file, f) != sizeof file || memcmp(file, tiny, sizeof file))
        return 3;
    if (fseek(f, 0, SEEK_END) || (size_t)ftell(f) != size) return 3;
    fclose(f);
    if (taper_model_builtin_bytes("huge", &size) || size) return 4;
    if (taper_model_builtin(&none, "huge", &e) != TAPER_ERR_ARG || none) return 4;
    if (!strstr(e.text, "photo, tiny and search")) return 4;
    return round_trip("photo") || round_trip("tiny");
}
C
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o builtin builtin.c $($pc --libs taper)
LD_LIBRARY_PATH=$at/lib ./builtin "$($pc --variable=modeldir taper)/tiny.tpm"
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o builtin-static builtin.c \
    $($pc --static --libs taper | sed "s|-ltaper|$at/lib/libtaper.a|")
./builtin-static "$at/share/taper/tiny.tpm"
# who does not ask for one pays nothing in a static program
printf '#include <taper.h>\nint main(void) { return taper_version()[0] == 0; }\n' >none.c
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o none none.c \
    $($pc --static --libs taper | sed "s|-ltaper|$at/lib/libtaper.a|")
test "$(wc -c <none)" -lt "$(($(wc -c <builtin-static) - 800000))"
# neighbours and votes, from the header alone
cat >search.c <<'C'
#include <taper.h>

int main(void) {
    const float codes[] = {0, 0, 4, 0, 0, 3, 5, 1}, query[] = {4, 2};
    const int32_t labels[] = {0, 1, 0, 1}, truth[] = {1};
    uint32_t near[3];
    double distances[3];
    int32_t voted;
    taper_error_rate rate = {.size = sizeof rate};
    taper_search search = {.size = sizeof search, .references = codes, .n_references = 4, .width = 2, .k = 3, .queries = query, .n_queries = 1};
    taper_votes votes = {.size = sizeof votes, .neighbours = near, .n_queries = 1, .found = 3, .k = 3, .labels = labels, .n_labels = 4, .classes = 2};
    if (taper_nearest(&search, near, distances, NULL) || taper_vote(&votes, &voted, NULL)) return 1;
    if (taper_count_errors(&voted, truth, 1, 2, NULL, &rate, NULL)) return 2;
    return near[0] != 3 || near[1] != 1 || near[2] != 2 || distances[2] != 17 || voted != 1 || rate.wrong;
}
C
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o search search.c $($pc --libs taper)
LD_LIBRARY_PATH=$at/lib ./search
# and the header is C++ as well
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2046
    printf '%s\n' '#include <taper.h>' 'const char *version() { return taper_version(); }' \
        'int near(const taper_search *s) { return taper_nearest(s, nullptr, nullptr, nullptr); }' >one.cpp
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $($pc --cflags taper) -c -o one.o one.cpp
fi

"$SAMPLES" small set --count 40 --format png
"$TAPER" train -q --window 8 -o model.tpm set/png
"$TAPER" encode -q --embed-model -m model.tpm -o set.taper set/png
./static set.taper >one
LD_LIBRARY_PATH=$at/lib ./shared set.taper >two
cmp one two
grep -q ', complete$' one
# made with a model that ships: the example finds it
"$TAPER" encode -q -m tiny -o tiny.taper set/png
./static tiny.taper | grep -q ', complete$'
