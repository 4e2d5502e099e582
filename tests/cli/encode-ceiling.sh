# Ceilings hold, and are used up; --psnr is reached, and not by much; layouts; an embedded model.
. "$ROOT/tests/cli_helpers.sh"
small_set 200
size() { wc -c <"$1"; }
within() { # size, ceiling: at most the ceiling and at least 98 % of it
    test "$1" -le "$2"
    test $(($1 * 100)) -ge $(($2 * 98))
}
encode() { "$TAPER" encode -q -m model.tpm "$@"; }
encode -o bytes.taper --bytes 30000 set/png
within "$(size bytes.taper)" 30000
encode -o bpp.taper --bpp 1 set/png
within "$(size bpp.taper)" $((200 * 1024 / 8))
encode -o each.taper --bytes-per-image 100 set/cifar/train.bin set/cifar/test.bin
within "$(size each.taper)" 20000
encode -o image.taper --bytes-per-image 100 --layout image set/idx/images.idx
within "$(size image.taper)" 20000
encode -o whole.taper --bytes 1G set/png
encode --best --strip -o plain.taper set/png
cmp whole.taper plain.taper
expect 6 '*front matter*' "$TAPER" encode -m model.tpm -o none.taper -b 100 set/png
test ! -e none.taper

last_psnr() { # container: of the whole file
    "$TAPER" compare -q --json --rivals none -m model.tpm "$1" set/png |
        tr '{' '\n' | sed -n 's/.*"psnr_db":\([0-9.]*\).*/\1/p' | tail -n 1
}
encode -o psnr.taper --psnr 29 set/png
encode -o psnr-image.taper --psnr 29 --layout image set/png
last_psnr psnr.taper >reached
awk '{ exit !($1 >= 29 && $1 < 29.05) }' reached || { cat reached; exit 1; }
last_psnr psnr-image.taper >reached
awk '{ exit !($1 >= 29 && $1 < 30) }' reached || { cat reached; exit 1; }
expect 0 '*warning: the model reaches*' "$TAPER" encode -m model.tpm -o most.taper --psnr 99 set/png # times are kept, too
encode --best -f -o plain.taper set/png
cmp most.taper plain.taper

encode --best --embed-model -o own.taper set/png
"$TAPER" decode -q -o own own.taper
test "$(count_png own)" -eq 200
test "$(($(size own.taper) - $(size plain.taper)))" -ge "$(size model.tpm)"
nothing_left
