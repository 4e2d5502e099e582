# The WebAssembly build, with SIMD and without, on the conformance corpus: outcomes and pixels are those of the manifest,
# as the C decoder's are (tests/test_conformance.c). In node, without any import.
command -v node >/dev/null || { echo "SKIP no node here"; exit 0; }
web=$ROOT/build/web
[ -e "$web/calls.wasm" ] || { echo "SKIP no WebAssembly build: make web says what it lacks"; exit 0; }
corpus=$ROOT/tests/conformance/files
for module in calls calls-plain; do
    node "$ROOT/tests/web/conformance.mjs" "$web/$module.wasm" "$corpus" >said || { cat said; exit 1; }
    grep -q '^9[0-9][0-9] lines, 0 differ$' said
done
# it sees a difference: of a pixel, of what is refused
mkdir other
for f in manifest samples grey.tpm grey-set.taper bad-tail.taper; do cp "$corpus/$f" other; done
changed() { # what is changed: line to look at, sed expression
    sed "/^$1/{$2;}" "$corpus/manifest" >other/manifest
    if node "$ROOT/tests/web/conformance.mjs" "$web/calls.wasm" other "$1" >out; then echo "not seen: $*"; exit 1; fi
}
changed grey-set.taper 's/........$/00000000/'
changed grey-set.taper 's/ ok / damaged /'
changed bad-tail.taper 's/corrupt/ok/'
