# The models that ship: encode without -m, by name, and decode by what the file says.
"$SAMPLES" small set --count 12 --format png
"$TAPER" encode --best -q -o photo.taper set/png
"$TAPER" encode --best -q -m tiny -o tiny.taper set/png
"$TAPER" info photo.taper | grep -q 'photo, which is built in'
"$TAPER" info --json tiny.taper | grep -q '"builtin_model": *"tiny"'
for model in photo tiny; do
    "$TAPER" decode -q -o $model $model.taper
    test "$(find $model -name '*.png' | wc -l)" -eq 12
    "$TAPER" decode -q -p -o $model-piped - <$model.taper
    diff -r $model $model-piped
    "$TAPER" decode -q -m $model -o $model-named $model.taper
    diff -r $model $model-named
    "$TAPER" repack -q --layout image -o $model-image.taper $model.taper
    "$TAPER" decode -q -o $model-apart $model-image.taper
    diff -r $model $model-apart
done

# what is in the tree is what is in the program
"$TAPER" decode -q -m "$ROOT/models/tiny.tpm" -o tiny-file tiny.taper
diff -r tiny tiny-file

# and it makes the same container, where the matrix that is computed for a file is by fused products as the stored one
"$TAPER" encode --best -q -m "$ROOT/models/tiny.tpm" -o tiny-of-file.taper set/png
if "$TAPER" --version -v | grep -q 'fused multiply-adds'; then cmp tiny.taper tiny-of-file.taper; fi

# in comparisons: the photographs' by default, and the container's own
"$TAPER" compare -q --json -r none set/png >default.json
"$TAPER" compare -q --json -r none photo.taper set/png >container.json
grep -q '"file+model"' default.json
grep -q '"file+model"' container.json

# the wrong one is refused; one that a file is called after is the file with a path
code=0
"$TAPER" decode -q -m tiny -o wrong photo.taper 2>said || code=$?
test "$code" -eq 2
mkdir own
cp "$ROOT/models/tiny.tpm" own/photo
(cd own && "$TAPER" encode --best -q -m ./photo -o ../path.taper ../set/png)
"$TAPER" info path.taper | grep -q 'tiny, which is built in'

# a pipe that ends within the header
code=0
head -c 20 photo.taper | "$TAPER" decode -q -p -o none - 2>said || code=$?
test "$code" -eq 3
grep -q 'need 36 more bytes' said
