# The shared library exports what its header declares, with the versions, sizes and offsets of tests/abi.txt. The static
# library has no other names than taper_.
. "$ROOT/tests/cli_helpers.sh"
command -v nm >/dev/null || { echo "SKIP no nm"; exit 0; }
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
CC=${CC:-cc}
export CC
python3 "$ROOT/tests/abi.py" "$B" >now
nm -g --defined-only "$B/libtaper.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(taper_|__(odr_)?asan)/' >others
test ! -s others || { head others; exit 1; }
# the library needs what it says, and no reader of image files
if command -v objdump >/dev/null; then
    objdump -p "$B/libtaper.so" | sed -n 's/^ *NEEDED *//p' | grep -vE '^lib(zstd|xxhash|m|c|asan|ubsan)\.so' >needed || :
    test ! -s needed || { cat needed; exit 1; }
fi
for d in "$B"/formats/*.d "$B"/codec/*.d "$B"/codec/*/*.d; do
    of=${d#"$B"/}
    [ ! -e "$ROOT/${of%.d}.c" ] || grep -lE '(png|jpeglib|zlib)\.h' "$d" || :
done >readers
test ! -s readers || { cat readers; exit 1; }
[ "$(getconf LONG_BIT)" = 64 ] || { echo "SKIP tests/abi.txt is of 64-bit machines"; exit 0; }
diff "$ROOT/tests/abi.txt" now || {
    echo "if this change of the binary interface is meant: python3 tests/abi.py build/opt --renew"
    exit 1
}
# it can tell: a function more, a field less
mkdir -p changed/include
ln -s "$B/libtaper.so" changed/libtaper.so
sed 's/^TAPER_API const char \*taper_version(void);/&\nTAPER_API int taper_more(void);/' "$B/include/taper.h" \
    >changed/include/taper.h
if python3 "$ROOT/tests/abi.py" changed 2>said; then exit 1; fi
grep -q '^taper_more: declared, not exported' said
sed 's/^    uint64_t taken;//' "$B/include/taper.h" >changed/include/taper.h
python3 "$ROOT/tests/abi.py" changed >then
not diff now then >/dev/null
