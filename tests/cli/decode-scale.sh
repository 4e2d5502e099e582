# Images at a part of their size: each pixel is the mean of a square; sizes are rounded up.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
decode() { "$TAPER" decode -q -m model.tpm "$@"; }

samples() { od -A n -v -t u1 | tr -s ' \n' '\n' | sed '/^$/d'; }
# The samples of an image of a raw file are those of a PNM file behind its three header lines.
pnm_samples() { tail -n +4 "$1" | samples; }
# The means of squares of s x s pixels of `samples`, of an image of this width and three channels
means() { # s, width
    awk -v s="$1" -v w="$2" '{
        x = int((NR - 1) / 3) % w; y = int((NR - 1) / 3 / w); c = (NR - 1) % 3
        at = (int(y / s) * w + int(x / s)) * 3 + c
        sum[at] += $1; n[at]++; if (at > last) last = at
    } END { for (i = 0; i <= last; i++) if (n[i]) print sum[i] / n[i] }'
}

decode -i 31 --format pnm -o whole.ppm set.taper
width=$(sed -n 2p whole.ppm | cut -d ' ' -f 1)
for s in 2 4 8 16; do
    decode -i 31 --scale 1/$s --all-passes -o $s.ppm set.taper
    test "$(sed -n 2p $s.ppm)" = "$(((width + s - 1) / s)) $(((width + s - 1) / s))"
    pnm_samples whole.ppm | means $s "$width" >ought
    pnm_samples $s.ppm >is
    test "$(wc -l <is)" -eq "$(wc -l <ought)"
    paste is ought | awk '{ d = $1 - $2; e += d * d } END { exit !(e / NR < 1.3) }' # 47 dB
    # passes that show at this size: few differ, and not by much
    decode -i 31 --scale 1/$s -o fewer-$s.ppm set.taper
    pnm_samples fewer-$s.ppm >fewer
    paste is fewer | awk '{ d = $1 - $2; e += d * d } END { exit !(e / NR < 8) }' # 39 dB
done
not cmp fewer-8.ppm 8.ppm
decode -i 31 --scale 1 -o 1.ppm set.taper
cmp 1.ppm whole.ppm

# sizes are rounded up; threads, cuts and pipes
decode -T 1 --scale 1/8 -o one set.taper
decode -T 3 --scale 1/8 -o three set.taper
diff -r one three
test "$(find one -name '*.png' | wc -l)" -eq 60
"$TAPER" decode -q --progressive --scale 1/8 -m model.tpm -o arrived - <set.taper
diff -r one arrived
decode --scale 1/8 --bytes 9000 -o cut set.taper
head -c 9000 set.taper | decode --scale 1/8 -o cut-pipe -
diff -r cut cut-pipe
printf 'P5\n1 1\n255\n\200' >dot.pgm
printf 'P5\n7 3\n255\n123456789012345678901' >line.pgm
"$TAPER" encode --best -q -o odd.taper dot.pgm line.pgm
for s in 2 4 8 16; do "$TAPER" decode -q --scale 1/$s --format pnm -o odd-$s odd.taper; done
size_of() { sed -n '/^[0-9][0-9]* [0-9][0-9]*$/{p;q}' "$1"; } # of a PNM file
test "$(size_of odd-16/dot.pnm), $(size_of odd-16/line.pnm)" = '1 1, 1 1'
test "$(size_of odd-2/dot.pnm), $(size_of odd-2/line.pnm), $(size_of odd-4/line.pnm)" = '1 1, 4 2, 2 1'

# files of all images
decode --scale 1/4 -o quarter.idx set.taper
decode --scale 1/4 --format pnm -o quarter set.taper
test "$(tail -c +21 quarter.idx | wc -c)" -eq "$(($(size_of quarter/star/0006.pnm | sed 's/ / * /') * 3 * 60))"
expect 2 '*CIFAR needs RGB images of 32 x 32*' "$TAPER" decode --scale 1/2 -m model.tpm --format cifar -o half.bin set.taper

# what is refused
expect 2 "*--scale*1/16*" "$TAPER" decode --scale 1/3 -m model.tpm -o no set.taper
expect 2 "*--scale*" "$TAPER" decode --scale 8 -m model.tpm -o no set.taper
expect 0 "*--scale (for images, not --levels)*" "$TAPER" decode --scale 1/2 -m model.tpm --levels set.taper
test ! -e no
