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
env -u MAKEFLAGS -u MFLAGS make -s -o all B="$B" PREFIX=/opt/taper DESTDIR="$here/root" install
cd "$here"
find root -type f | grep -v '^root/opt/taper/' && exit 1
at=$here/root/opt/taper

# every file of the list, and nothing that a release does not name
for file in bin/taper include/taper.h lib/libtaper.a lib/libtaper.so lib/libtaper.so.0 \
    lib/pkgconfig/taper.pc share/man/man1/taper.1 share/bash-completion/completions/taper \
    share/zsh/site-functions/_taper share/taper/photo.tpm share/taper/tiny.tpm; do
    test -s "$at/$file" || { echo "$file is missing"; exit 1; }
done
test "$(find "$at/include" -type f | wc -l)" -eq 1
for verb in $("$TAPER" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^\.SH SYNOPSIS$" "$at/share/man/man1/taper-$verb.1"
done
"$at/bin/taper" --version | grep -q '^taper [0-9]'
# the build tree's paths stay out of it
grep -rqF "$ROOT" "$at/lib/pkgconfig" "$at/share" "$at/include" && exit 1

# compile the example as a stranger would, with the installed header
sed 's|#include "../../codec/taper.h"|#include <taper.h>|' "$ROOT/samples/example/example.c" >example.c
grep -q '<taper.h>' example.c
export PKG_CONFIG_PATH="$at/lib/pkgconfig"
pc="pkg-config --define-variable=prefix=$at"
test "$($pc --modversion taper)" = "$("$TAPER" --version | sed 's/^taper //')"
strict="-std=c11 -Wall -Wextra -Wpedantic -Werror $sanitised"
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o shared example.c $($pc --libs taper)
# shellcheck disable=SC2046,SC2086
$CC $strict $($pc --cflags taper) -o static example.c \
    $($pc --static --libs taper | sed "s|-ltaper|$at/lib/libtaper.a|")
# and the header is C++ as well
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2046
    printf '#include <taper.h>\nconst char *version() { return taper_version(); }\n' >one.cpp
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $($pc --cflags taper) -c -o one.o one.cpp
fi

"$SAMPLES" small set --count 40 --format png
"$TAPER" train -q --window 8 -o model.tpm set/png
"$TAPER" encode -q --embed-model -m model.tpm -o set.taper set/png
./static set.taper >one
LD_LIBRARY_PATH=$at/lib ./shared set.taper >two
cmp one two
grep -q ', complete$' one
