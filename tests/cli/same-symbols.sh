# The decoder, built in several ways from its sources alone, decodes the same symbols and, within one
# level, the same pixels (promise P4).
"$SAMPLES" small . --count 48 --format png >/dev/null
"$TAPER" train -q --window 8 -o model.tpm png
"$TAPER" encode -q -m model.tpm -o set.taper png

build() { # NAME COMPILER FLAGS...
    name=$1 compiler=$2
    shift 2
    objects=
    for source in formats/status formats/bytes formats/container formats/directory formats/model_file \
        codec/range_coder codec/fixed_log codec/code_tables codec/group codec/contexts \
        codec/chunk_coder codec/weights_coder codec/windows codec/model codec/network \
        codec/group_reader codec/decoder codec/backend/backend codec/backend/plain \
        codec/backend/onednn codec/backend/pool tests/cli/dump_levels; do
        object=$name-$(basename "$source").o
        "$compiler" -std=c11 -D_POSIX_C_SOURCE=200809L -pthread "$@" -ffp-contract=off \
            -fno-fast-math -c -o "$object" "$ROOT/$source.c"
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    "$compiler" -pthread -o "$name" $objects -lzstd -lxxhash -lm
    "./$name" model.tpm set.taper "$name.levels" "$name.pixels"
}

same() { # NAME: as `plain`?
    cmp plain.levels "$1.levels"
    worst=$(./plain plain.pixels "$1.pixels")
    [ "$worst" -le 1 ] || { echo "$1: pixels differ by $worst levels" >&2; exit 1; }
}

build plain cc -O0
[ -s plain.levels ] && [ -s plain.pixels ]
build fast cc -O3 -march=native
same fast
if command -v clang >/dev/null; then
    build other clang -O2 -march=native
    same other
fi
# the program itself, with its own kernels, writes the same pixels
"$TAPER" decode -q -o out set.taper -m model.tpm
[ "$(find out -type f | wc -l)" -eq 48 ]
