# No command starts with the libraries of compare's rivals or of training; compare loads those of the
# rivals it is asked for, and one that is missing or lacks a function is told and the rest is compared.
. "$ROOT/tests/cli_helpers.sh"
command -v ldd >/dev/null || { echo "SKIP no ldd"; exit 0; }
ldd "$TAPER" | sed 's/^[[:space:]]*//; s/ .*//; s|.*/||; s/[.-].*//' >started
case $TAPER in
*/opt/taper)
    grep -vxE 'linux|ld|lib(png16|png|jpeg|z|zstd|xxhash|m|c|dl|pthread)' started >others || : ;;
*)  grep -E 'webp|avif|aom|jxl|openjp2|blas|lapack|gomp' started >others || : ;;
esac
[ ! -s others ] || { echo "taper starts with"; cat others; exit 1; }

small_set 6
compare() { "$TAPER" compare -q -n 1 -m model.tpm "$@" set/png; }
loaded() { LD_DEBUG=libs compare "$@" 2>&1 | grep -o 'calling init: .*' | grep -cE 'webp|avif|jxl|openjp2' || :; }
[ "$(loaded -r jpeg)" -eq 0 ]

has() { grep -q "{\"codec\":\"$1\",\"accounting\"" all; }
compare --json >all
tested=0
for rival in jpeg2000:libopenjp2 webp:libwebp avif:libavif jxl:libjxl; do
    codec=${rival%:*} library=${rival#*:}
    file=$(grep -ao "$library\.so[.0-9]*" "$TAPER" | head -n 1)
    [ -n "$file" ] || { echo "$codec is not built in"; continue; }
    has "$codec"
    [ "$(loaded -r "$codec")" -ge 1 ]
    # a library that cannot be loaded
    mkdir -p broken
    : >"broken/$file"
    LD_LIBRARY_PATH=$PWD/broken compare -r "jpeg,$codec" >table
    grep -q '^JPEG  *file ' table
    grep -q "absent: .*$file: .*; install $library" table
    # another one of that name
    cc -shared -o "broken/$file" -x c - </dev/null
    LD_LIBRARY_PATH=$PWD/broken compare -r "jpeg,$codec" >table
    grep -q '^JPEG  *file ' table
    grep -q "absent: $file lacks [A-Za-z_]*; build taper anew for it" table
    rm -r broken
    tested=$((tested + 1))
done
[ "$tested" -gt 0 ] || echo "SKIP no rival is built in"
