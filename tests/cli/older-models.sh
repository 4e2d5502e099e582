# Files of older builds stay readable: tests/version2 holds a model of version 2, a container made with it and what the
# build before version 3 decoded from that (3439a25: a model of 30 images of each class of `make_samples small`).
old=$ROOT/tests/version2
"$TAPER" info "$old/version2.tpm" | grep -q 'by a network of 8 hidden units'
"$TAPER" decode -q -m "$old/version2.tpm" -o now "$old/version2.taper"
command -v python3 >/dev/null || { echo "SKIP no python3 here"; exit 0; }
python3 "$ROOT/tests/same_pixels.py" "$old/png" now
# a model of now may begin with one of then
"$SAMPLES" small set --count 30 --format png
"$TAPER" train -q --from "$old/version2.tpm" --predict-epochs 1 -o new.tpm set/png
"$TAPER" encode -q -m new.tpm -o new.taper set/png
"$TAPER" decode -q -m new.tpm -o new new.taper
