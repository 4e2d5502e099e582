# `make deb`: packages that dpkg accepts, with all that is installed and no more; what they hold runs, and file(1) and
# the desktop's types know the formats.
for tool in dpkg-deb dpkg-shlibdeps strings; do
    command -v $tool >/dev/null || { echo "SKIP no $tool"; exit 0; }
done
here=$(pwd)
# the packages are for release; sanitizers would be a dependency
if nm "$B/libtaper.a" 2>/dev/null | grep -q __asan_; then echo "SKIP built with sanitizers"; exit 0; fi
version=$("$TAPER" --version | sed 's/^taper //')
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS MAKE_ARGS="-o all -o lib B=$B" sh packaging/deb.sh "$here/deb" "$version") >list
test "$(wc -l <list)" -eq 3
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

# no file is lost, and none is in two packages
(cd "$ROOT" && env -u MAKEFLAGS -u MFLAGS make -s -o all -o lib B="$B" PREFIX=/usr \
    LIBDIR="/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" DESTDIR="$here/whole" install)
(cd whole && find usr ! -type d | sed '/share\/man/s/$/.gz/' | LC_ALL=C sort) >wanted
while read -r package; do dpkg-deb --fsys-tarfile "$package" | tar -t; done <list |
    grep -v '/$' | sed 's|^\./||' | grep -v '^usr/share/doc/' | LC_ALL=C sort >got
diff wanted got

root/usr/bin/taper --version | grep -q "$version"
"$SAMPLES" scenes photos --count 1
root/usr/bin/taper encode -q -o set.taper photos
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
