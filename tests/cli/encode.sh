# Every kind of input gives the same images; the bytes do not depend on the number of threads.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" encode -q -m model.tpm -o folder.taper set/png
"$TAPER" encode -q -m model.tpm -T 1 -o one.taper set/png
"$TAPER" encode -q -m model.tpm -T 7 -o seven.taper set/png
cmp folder.taper one.taper
cmp folder.taper seven.taper

# names and classes come from the folders
"$TAPER" info --json folder.taper >said
grep -q '"images":120,' said
grep -q '"classes":\[{"name":"arrow","images":12}' said
"$TAPER" decode -q -m model.tpm -o out folder.taper
(cd set/png && find . -name '*.png' | sort) >before
(cd out && find . -name '*.png' | sort) >after
cmp before after

# a list of files, relative to the list; the files one by one; a mixture
(cd set/png && find . -name '*.png' | sort | sed 's,^\./,png/,') >set/list
"$TAPER" encode -q -m model.tpm -o list.taper --filelist set/list
"$TAPER" decode -q -m model.tpm --format cifar -o list.bin list.taper
"$TAPER" decode -q -m model.tpm --format idx -o folder.idx folder.taper
"$TAPER" decode -q -m model.tpm --format idx -o list.idx list.taper
cmp folder.idx list.idx

# IDX, plain and packed, with labels; CIFAR; standard input
"$TAPER" encode -q -m model.tpm --labels set/idx/labels.idx -o idx.taper set/idx/images.idx
"$TAPER" encode -q -m model.tpm --labels set/idx/labels.idx.gz -o gz.taper set/idx/images.idx.gz
"$TAPER" encode -q -m model.tpm --labels set/idx/labels.idx -o - - <set/idx/images.idx >stdin.taper
cmp idx.taper gz.taper
cmp idx.taper stdin.taper
"$TAPER" info --json idx.taper | grep -q '"classes":\[{"name":"0","images":12}'
"$TAPER" encode -q -m model.tpm -o cifar.taper set/cifar/train.bin set/cifar/test.bin
"$TAPER" decode -q -m model.tpm --format cifar -o cifar.bin cifar.taper
test "$(wc -c <cifar.bin)" -eq $((120 * 3073))
"$TAPER" info --json cifar.taper | grep -q '"classes":\[{"name":"0","images":12}'

# one image, from a pipe
head -c 1000000 set/png/arrow/0001.png | "$TAPER" encode -q -m model.tpm -o single.taper -
"$TAPER" info --json single.taper | grep -q '"images":1,'
nothing_left
