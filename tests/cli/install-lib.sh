# `make install-lib` in the directories of a distribution: its files, and programs that cmake builds with it.
. "$ROOT/tests/cli_helpers.sh"
at=$(pwd)/root/usr
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS make -s -o lib B="$B" PREFIX=/usr LIBDIR=/usr/lib/multi \
    INCLUDEDIR=/usr/include/own DESTDIR="${at%/usr}" install-lib)
(cd root && find usr -type f -o -type l | LC_ALL=C sort) >files
diff - files <<'FILES'
usr/include/own/taper.h
usr/lib/multi/cmake/taper/taper-config-version.cmake
usr/lib/multi/cmake/taper/taper-config.cmake
usr/lib/multi/libtaper.a
usr/lib/multi/libtaper.so
usr/lib/multi/libtaper.so.1
usr/lib/multi/libtaper.so.1.0.0
usr/lib/multi/pkgconfig/taper.pc
usr/share/man/man3/taper.3
usr/share/man/man5/taper.5
usr/share/taper/photo.tpm
usr/share/taper/search.tpm
usr/share/taper/tiny.tpm
FILES

# it builds without the libraries of image files, and without pkg-config
mkdir bin
printf '#!/bin/sh\nexit 1\n' >bin/pkg-config
chmod +x bin/pkg-config
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS PATH="${at%/root/usr}/bin:$PATH" make -n -s -B CUDA=0 \
    B="build/never" lib) >commands
grep -q 'libtaper.so' commands
not grep -oE 'png|jpeg|-lz( |$)|formats/image(s|set)/|(cli|train)/[a-z]*' commands

command -v pkg-config >/dev/null || { echo "SKIP no pkg-config"; exit 0; }
pc="env PKG_CONFIG_PATH=$at/lib/multi/pkgconfig pkg-config --define-variable=prefix=$at"
test "$($pc --variable=libdir taper)" = "$at/lib/multi"
$pc --cflags taper | grep -q -- "-I$at/include/own"
$pc --static --libs taper | grep -q -- '-lzstd.*-lxxhash\|-lxxhash.*-lzstd'

command -v cmake >/dev/null || { echo "SKIP no cmake: the CMake package was not tried"; exit 0; }
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then echo "SKIP a library with sanitizers"; exit 0; fi
sed 's|#include "codec/taper.h"|#include <taper.h>|' "$ROOT/samples/example/example.c" >example.c
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(taper 1.0 REQUIRED COMPONENTS static)
foreach(kind taper taper_static)
  add_executable(with_${kind} example.c)
  target_link_libraries(with_${kind} taper::${kind})
endforeach()
find_package(taper 2.0 QUIET)
if(taper_FOUND)
  message(FATAL_ERROR "version 1 serves for 2")
endif()
CMAKE
cmake -S . -B built -Dtaper_DIR="$at/lib/multi/cmake/taper" >said 2>&1 || { cat said; exit 1; }
cmake --build built >said 2>&1 || { cat said; exit 1; }
"$SAMPLES" small set --count 4 --format png
"$TAPER" encode --best -q -m tiny -o set.taper set/png
for kind in taper taper_static; do built/with_$kind set.taper | grep -q ', complete$'; done
command -v objdump >/dev/null || exit 0
objdump -p built/with_taper | grep -q 'NEEDED *libtaper.so.1$'
objdump -p built/with_taper_static >said
not grep libtaper said
