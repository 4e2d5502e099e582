# `make deb`: packages that dpkg accepts, with all that is installed and no more; what they hold runs, and file(1) and
# the desktop's types know the formats.
for tool in dpkg-deb dpkg-shlibdeps strings python3; do
    command -v $tool >/dev/null || { echo "SKIP no $tool"; exit 0; }
done
here=$(pwd)
# the packages are for release; sanitizers would be a dependency
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then echo "SKIP built with sanitizers"; exit 0; fi
version=$("$TAPER" --version | sed 's/^taper //')
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS MAKE_ARGS="-o all -o lib B=$B" sh packaging/deb.sh "$here/deb" "$version") >list
test "$(wc -l <list)" -eq 4
while read -r package; do
    dpkg-deb --info "$package" >/dev/null
    dpkg-deb --extract "$package" root
    dpkg-deb --control "$package" control
    (cd root && md5sum --quiet -c ../control/md5sums)
    rm -r control
done <list
field() { dpkg-deb --field "deb/$1_${version}_"*.deb "$2"; }
field taper Depends | grep -q libzstd1
field taper Depends | grep -q libpng16
field "libtaper${version%%.*}" Depends | grep -q libzstd1
field "libtaper${version%%.*}" Depends | grep -qE 'libpng|libjpeg' && exit 1
field libtaper-dev Depends | grep -q "libtaper${version%%.*} (= $version)"
for package in 'python3 (>= 3.9)' python3-numpy "libtaper${version%%.*} (= $version)"; do
    field python3-taper Depends | tr ',' '\n' | sed 's/^ //' | grep -qxF "$package"
done
test "$(field python3-taper Architecture)" = all
field python3-taper Suggests | grep -q python3-torch

# no file is lost, and none is in two packages
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS make -s -o all -o lib B="$B" PREFIX=/usr \
    LIBDIR="/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" DESTDIR="$here/whole" install)
(cd whole && find usr ! -type d | sed '/share\/man/s/$/.gz/' | LC_ALL=C sort) >wanted
while read -r package; do dpkg-deb --fsys-tarfile "$package" | tar -t; done <list |
    grep -v '/$' | sed 's|^\./||' | grep -v -e '^usr/share/doc/' -e '^usr/lib/python3/' | LC_ALL=C sort >got
diff wanted got

root/usr/bin/taper --version | grep -q "$version"
"$SAMPLES" scenes photos --count 1
root/usr/bin/taper encode -q -o set.taper photos

# the modules for Python, on the library of its package: all of them, and no other library
at=$here/root/usr/lib/python3/dist-packages
(cd "$ROOT/bindings/python/taper" && find . -name '*.py' -o -name py.typed) | sort >wanted
(cd "$at/taper" && find . -type f) | sort | diff wanted -
grep -qxF "Version: $version" "$at/taper-$version.dist-info/METADATA"
for python in python3 /usr/bin/python3 none; do $python -c 'import numpy' 2>/dev/null && break; done
if [ $python != none ]; then
    lib=$(dirname "$(find "$here/root" -name 'libtaper.so.?')")
    env -u TAPER_LIBRARY -u TAPER_PROGRAM LD_LIBRARY_PATH="$lib" PYTHONPATH="$at" PATH="$here/root/usr/bin:$PATH" \
        PYTHONDONTWRITEBYTECODE=1 $python - "$lib" "$here/root/usr/bin/taper" <<'END'
import importlib.metadata, sys, taper, taper.programs
images = taper.open("set.taper")
assert images[0].ndim == 3 and images[0].std() > 0
assert importlib.metadata.version("taper") == taper.__version__
assert taper.programs.program() == sys.argv[2]
with open("/proc/self/maps") as maps:
    loaded = {line.split()[-1].rpartition("/")[0] for line in maps if "libtaper" in line}
assert loaded == {sys.argv[1]}, loaded
END
fi

if command -v file >/dev/null; then
    magic=root/usr/share/taper/taper.magic
    test "$(file -b --mime-type -m $magic set.taper)" = application/x-taper
    file -b -m $magic set.taper | grep -q '^taper set of images, version 2, 1 images, '
    test "$(file -b --mime-type -m $magic root/usr/share/taper/tiny.tpm)" = application/x-taper-model
fi
if command -v update-mime-database >/dev/null; then
    update-mime-database root/usr/share/mime
    grep -q 'application/x-taper:\*.taper' root/usr/share/mime/globs
    grep -aq 'application/x-taper-index' root/usr/share/mime/magic
fi
