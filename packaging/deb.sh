#!/bin/sh
# deb.sh OUT VERSION -- Debian packages of what is built: OUT/taper, libtaper1, libtaper-dev and python3-taper.
# Needs dpkg-dev, binutils and python3.
# MAKE_ARGS: passed to make. Depends: what dpkg-shlibdeps finds. Recommends: libraries that are loaded when needed, as
# far as they are installed here.
set -eu
out=$1 version=$2
soversion=${version%%.*}
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH) arch=$(dpkg-architecture -qDEB_HOST_ARCH)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

# shellcheck disable=SC2086
make -s ${MAKE_ARGS:-} DESTDIR="$work/all" PREFIX=/usr LIBDIR="/usr/lib/$multiarch" install
mkdir -p "$work/debian" # dpkg-shlibdeps wants a source package
printf 'Source: taper\n\nPackage: taper\nArchitecture: any\n' >"$work/debian/control"

# move PACKAGE PATTERN...: take these files from the whole
move() {
    package=$1; shift
    for pattern; do
        (cd "$work/all" && find . -path "./$pattern" ! -type d) | while read -r file; do
            mkdir -p "$work/$package/$(dirname "$file")"
            mv "$work/all/$file" "$work/$package/$file"
        done
    done
}
move libtaper$soversion "usr/lib/$multiarch/libtaper.so.*"
move libtaper-dev "usr/lib/$multiarch/*" "usr/include/*" "usr/share/man/man3/*"
move taper "usr/*"
find "$work/taper/usr/share/man" "$work/libtaper-dev/usr/share/man" -type f -exec gzip -9n {} +

# needed FILE...: the packages whose libraries these files load
needed() {
    (cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# loaded FILE: the packages whose libraries this program loads when it needs them
loaded() {
    strings "$1" | grep -E '^lib[a-z0-9_-]+\.so(\.[0-9.]+)?$' | sort -u | while read -r name; do
        dpkg-query -S "*/$name" 2>/dev/null | sed -n '1s/[:,].*//p'
    done | grep -v -e '-dev$' -e '^libc6$' | sort -u | paste -sd, - | sed 's/,/, /g'
}

# pack PACKAGE DEPENDS RECOMMENDS SECTION SUMMARY TEXT [ARCHITECTURE SUGGESTS]
pack() {
    root=$work/$1 of=${7:-$arch}
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$1"
    cp LICENSE "$root/usr/share/doc/$1/copyright"
    gzip -9nc CHANGELOG.md >"$root/usr/share/doc/$1/changelog.gz"
    {
        printf 'Package: %s\nSource: taper\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$of"
        printf 'Maintainer: taper <taper@localhost>\nSection: %s\nPriority: optional\n' "$4"
        printf 'Installed-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)"
        [ -z "$2" ] || printf 'Depends: %s\n' "$2"
        [ -z "$3" ] || printf 'Recommends: %s\n' "$3"
        [ -z "${8:-}" ] || printf 'Suggests: %s\n' "$8"
        printf 'Description: %s\n %s\n' "$5" "$6"
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2 >DEBIAN/md5sums)
    find "$root" -type d -exec chmod 755 {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
    echo "$out/${1}_${version}_$of.deb"
}

# The modules for Python without the library, which is that of the system. Whoever installs them compiles them.
modules() {
    to=$work/python3-taper
    mkdir -p "$to/usr/lib/python3/dist-packages" "$to/DEBIAN"
    wheel=$(TAPER_BUILD="$work/none" python3 bindings/python/build_wheel_of_taper.py "$work/wheel")
    python3 -m zipfile -e "$wheel" "$to/usr/lib/python3/dist-packages"
    find "$to/usr" -type f -exec chmod 644 {} +
    printf '#!/bin/sh\nset -e\n' | tee "$to/DEBIAN/postinst" >"$to/DEBIAN/prerm"
    printf '[ "$1" != configure ] || py3compile -p python3-taper\n' >>"$to/DEBIAN/postinst"
    printf 'py3clean -p python3-taper\n' >>"$to/DEBIAN/prerm"
    chmod 755 "$to/DEBIAN/postinst" "$to/DEBIAN/prerm"
}
modules
strip -s "$work/taper/usr/bin/taper"
strip --strip-unneeded "$work/libtaper$soversion"/usr/lib/*/libtaper.so.*.*
strip --strip-debug "$work/libtaper-dev"/usr/lib/*/libtaper.a
printf 'activate-noawait ldconfig\n' >"$work/triggers"
mkdir -p "$work/libtaper$soversion/DEBIAN" && cp "$work/triggers" "$work/libtaper$soversion/DEBIAN/"
pack taper "$(needed "$work/taper/usr/bin/taper")" "$(loaded "$work/taper/usr/bin/taper")" graphics \
    "sets of images in one file that can be cut anywhere" \
    "Encodes, cuts, decodes and searches sets of images; trains models for them."
pack libtaper$soversion "$(needed "$work/libtaper$soversion"/usr/lib/*/libtaper.so.*.*)" "" libs \
    "sets of images in one file that can be cut anywhere (library)" \
    "The shared library."
pack libtaper-dev "libtaper$soversion (= $version), libzstd-dev, libxxhash-dev" "" libdevel \
    "sets of images in one file that can be cut anywhere (development files)" \
    "The header, the static library, and the files for pkg-config and CMake."
pack python3-taper "python3 (>= 3.9), python3-numpy, libtaper$soversion (= $version)" "taper (= $version)" python \
    "sets of images in one file that can be cut anywhere (Python)" \
    "Sets as sequences of NumPy arrays, encoding, search, and data sets of PyTorch." \
    all "python3-torch, python3-pil, python3-fsspec"
