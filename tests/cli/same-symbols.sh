# The decoder, built in several ways from its sources alone, decodes the same symbols and the same pixels
# (promise P4). All of these models are linear.
"$SAMPLES" small . --count 48 --format png >/dev/null
"$TAPER" train -q --window 8 --lap 0 -o contexts.tpm png
"$TAPER" train -q --window 8 --conditional 16 --head 16 --predict-epochs 2 -o conditional.tpm png
"$TAPER" train -q --window 8 --family conv --restore 32 --restore-steps 150 -o conv.tpm png
"$TAPER" info conv.tpm | grep -q 'family    conv'
for model in contexts conditional conv; do
    "$TAPER" encode --best -q -m $model.tpm -o $model.taper png
done

build() { # NAME COMPILER FLAGS...
    name=$1 compiler=$2
    shift 2
    objects=
    for source in $(grep -v library.c "$ROOT/tests/decoder_sources.txt") \
        codec/decoder/levels.c tests/cli/dump_levels.c; do
        object=$name-$(echo "${source%.c}" | tr / -).o
        "$compiler" -std=c11 -I"$ROOT" -D_POSIX_C_SOURCE=200809L -pthread "$@" -ffp-contract=off \
            -fno-fast-math -c -o "$object" "$ROOT/$source"
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    "$compiler" -pthread -o "$name" $objects -lzstd -lxxhash -lm
    for model in contexts conditional conv; do
        "./$name" $model.tpm $model.taper "$name-$model.levels" "$name-$model.pixels"
    done
}

same() { # NAME: as `plain`?
    for model in contexts conditional conv; do
        cmp plain-$model.levels "$1-$model.levels"
        cmp plain-$model.pixels "$1-$model.pixels"
    done
}

build plain cc -O0 -DCODEC_PLAIN_KERNELS # the definitions of all kernels
[ -s plain-conditional.levels ]
[ -s plain-contexts.pixels ]
build fast cc -O3 -march=native
same fast
if command -v clang >/dev/null; then
    build other clang -O2 -march=native
    same other
fi
# the program itself, with its own kernels, writes the same pixels
"$TAPER" decode -q -o out conditional.taper -m conditional.tpm
[ "$(find out -type f | wc -l)" -eq 48 ]
