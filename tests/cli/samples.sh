# The generated sets: every format is there, and the pixels are those that every machine makes.
"$SAMPLES" small set --count 60
test "$(find set/png -name '*.png' | wc -l)" -eq 60
test "$(ls set/png | wc -l)" -eq 10
test "$(wc -c <set/idx/images.idx)" -eq $((20 + 60 * 3072))
test "$(wc -c <set/idx/labels.idx)" -eq $((8 + 60))
gzip -dc set/idx/images.idx.gz | cmp - set/idx/images.idx
test "$(cat set/cifar/train.bin set/cifar/test.bin | wc -c)" -eq $((60 * 3073))

# image i does not depend on how many there are; another seed gives other images
"$SAMPLES" small fewer --count 6 --format cifar
cat set/cifar/train.bin set/cifar/test.bin >whole
cat fewer/cifar/train.bin fewer/cifar/test.bin >part
cmp -n $((6 * 3073)) whole part
"$SAMPLES" small other --count 6 --seed 2 --format cifar
if cmp -s fewer/cifar/train.bin other/cifar/train.bin; then exit 9; fi

"$SAMPLES" letters letters --count 52
test "$(ls letters/png | tr -d '\n')" = ABCDEFGHIJKLMNOPQRSTUVWXYZ
test "$(find letters/png -name '0002.png' | wc -l)" -eq 26
test "$(wc -c <letters/idx/images.idx)" -eq $((16 + 52 * 400))
"$SAMPLES" letters coloured --format cifar 2>err && exit 8
grep -q 'letters go to png or idx' err

"$SAMPLES" scenes scenes --count 12
test "$(ls scenes | wc -l)" -eq 12

# recorded when the generators were written; a change here changes every figure measured on these sets
cksum <whole
cksum <letters/idx/images.idx
