# The WebAssembly build, with SIMD and without, in node, without any import: outcomes and pixels of the conformance
# corpus are those of the manifest, as the C decoder's are (tests/test_conformance.c); so are those of every prefix of
# some files; its kernels are as their definitions in C.
command -v node >/dev/null || { echo "SKIP no node here"; exit 0; }
web=$ROOT/build/web here=$ROOT/tests/web
[ -e "$web/calls.wasm" ] || { echo "SKIP no WebAssembly build: make web says what it lacks"; exit 0; }
corpus=$ROOT/tests/conformance/files
node "$here/kernels.mjs" "$web/kernels.wasm" 4
for module in calls calls-plain; do
    node "$here/conformance.mjs" "$web/$module.wasm" "$corpus" >said || { cat said; exit 1; }
    grep -q '^[0-9][0-9][0-9]* lines, 0 differ$' said
done
for file in parts-set everything-tracks exact-gallery embedded conv-set paged-gallery; do
    model=$(awk -v file=$file.taper '$1 == file { print $2; exit }' "$corpus/manifest")
    [ "$model" = - ] || model=$corpus/$model
    "$B/tests/web/prefixes" "$corpus/$file.taper" "$model" >native
    node "$here/prefixes.mjs" "$web/calls.wasm" "$corpus/$file.taper" "$model" >wasm
    cmp native wasm
done
# memory is bounded by the limits of the decoder and by the module itself, and a pointer beyond it ends the instance
node "$here/bounds.mjs" "$web/calls.wasm" "$corpus/grey-set.taper" "$corpus/grey.tpm"
# it sees a difference: of a pixel, of what is refused
mkdir other
for f in manifest samples grey.tpm grey-set.taper bad-tail.taper; do cp "$corpus/$f" other; done
changed() { # what is changed: line to look at, sed expression
    sed "/^$1/{$2;}" "$corpus/manifest" >other/manifest
    if node "$here/conformance.mjs" "$web/calls.wasm" other "$1" >out; then echo "not seen: $*"; exit 1; fi
}
changed grey-set.taper 's/........$/00000000/'
changed grey-set.taper 's/ ok / damaged /'
changed bad-tail.taper 's/corrupt/ok/'
