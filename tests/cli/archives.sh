# Archives as inputs and on standard input: tar (plain and packed), zip, 7z. Their images are those of the folder; members
# whose names lead out, links, devices, holes and bombs are one sentence each; memory does not grow with the archive.
. "$ROOT/tests/cli_helpers.sh"
needs bsdtar:libarchive-tools xz:xz-utils zstd:zstd bzip2:bzip2 convert:imagemagick
small_set 60
encode() { "$TAPER" encode -q -f -T 2 -m model.tpm "$@"; }
images() { "$TAPER" info --json "$1" | json_number images; }
mkdir pets
cp -r set/png/arrow set/png/bolt pets/
convert pets/arrow/0001.png pets/bolt/grey.gif
printf 'P5\n1 1\n255\n\1P5\n1 1\n255\n\2' >pets/bolt/two.pgm
cp set/idx/*images* pets/bolt/some.idx 2>/dev/null || :
echo words >pets/README
printf '\0\5\26\7' >pets/._0001.jpg
encode -o folder.taper pets
decoded() { # container, folder
    rm -rf "$2"
    "$TAPER" decode -q -m model.tpm -o "$2" "$1"
}
decoded folder.taper folder
(cd pets && tar cf ../a.tar ./* ._0001.jpg && bsdtar -c --format zip -f ../a.zip ./* && bsdtar -c --format 7zip -f ../a.7z ./*)
for pack in gzip bzip2 xz zstd; do
    cp a.tar a.$pack.tar
    $pack -q -f a.$pack.tar
done
for file in a.tar a.zip a.7z a.gzip.tar.gz a.bzip2.tar.bz2 a.xz.tar.xz a.zstd.tar.zst; do
    expect 0 '*1 file that is no image was passed over *README*' "$TAPER" encode -f -m model.tpm -o out.taper $file
    decoded out.taper out
    diff -r out folder
    "$TAPER" info -v out.taper >said
    grep -q bolt said # the first folder is the class
    encode -o again.taper - <$file
    cmp out.taper again.taper
    case $file in *.7z) continue ;; esac # whose index is at its end
    cat $file | encode -o again.taper -
    cmp out.taper again.taper
done
expect 0 '*1 hidden file or system folder was passed over (a.tar/._0001.jpg)*' "$TAPER" encode -f -m model.tpm -o out.taper a.tar

# in a folder they are passed over; other verbs read them
mkdir mixed
cp a.zip set/png/arrow/0001.png mixed/
expect 0 '*1 file that is no image was passed over (mixed/a.zip)' "$TAPER" encode -f -m model.tpm -o out.taper mixed
"$TAPER" train -q -f --window 8 -o own.tpm a.zip
"$TAPER" compare -q -m model.tpm -r none a.tar >table

# what is packed, and no archive; an archive without an image; encrypted
cp pets/arrow/0001.png one.png
for pack in bzip2 xz zstd; do
    cp one.png $pack.png
    $pack -q -f $pack.png
    expect 2 '*file packed with *: unpack it first*' "$TAPER" encode -m model.tpm -o none.taper $pack.png.*
done
tar cf words.tar pets/README
expect 2 '*words.tar: the archive holds no image*' "$TAPER" encode -m model.tpm -o none.taper words.tar
head -c 5000 a.gzip.tar.gz >cut.tar.gz
expect 1 '*cut.tar.gz: *; fetch it anew, or unpack it first' "$TAPER" encode -f -m model.tpm -o out.taper cut.tar.gz one.png
bsdtar -c --format zip --options zip:encryption=traditional --passphrase secret -f secret.zip one.png
expect 2 '*secret.zip: the archive is encrypted*' "$TAPER" encode -m model.tpm -o none.taper secret.zip

# names, links, devices, holes, bombs
python3 - <<'END'
import io, struct, tarfile, zipfile
one = open("one.png", "rb").read()
def member(tar, name, data=one, **set_):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in set_.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data) if info.isreg() else None)
with tarfile.open("odd.tar", "w") as tar:
    member(tar, "good/a.png")
    member(tar, "../../up.png")
    member(tar, "/etc/absolute.png")
    member(tar, "good/../../b.png")
    member(tar, "good/soft.png", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")
    member(tar, "good/hard.png", b"", type=tarfile.LNKTYPE, linkname="good/a.png")
    member(tar, "good/device.png", b"", type=tarfile.CHRTYPE)
    member(tar, "good/pipe.png", b"", type=tarfile.FIFOTYPE)
    member(tar, "good/\xfcml\xe4ut \U0001F600.png")
    member(tar, "good/" + 200 * "n" + ".png")
with tarfile.open("claims.tar", "w") as tar:
    member(tar, "a.png")
    info = tarfile.TarInfo("huge.png")
    info.size = 2 ** 43
    tar.fileobj.write(info.tobuf(tarfile.GNU_FORMAT))
with zipfile.ZipFile("odd.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("good/a.png", one)
    z.writestr("../up.png", one)
    z.writestr("\xfcml\xe4ut.png", one)
with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a.png", one)
    z.writestr("bomb.ppm", b"P6\n20000 20000\n255\n" + bytes(80 << 20))
    z.writestr("bomb.png", one[:33] + bytes(80 << 20))
END
expect 1 '*3 of 6 inputs were left out (the first: odd.tar/../../up.png): its name leads out of the archive*' \
    "$TAPER" encode -f -m model.tpm -o out.taper odd.tar
grep -q '4 files that are no images were passed over (the first: odd.tar/good/soft.png)' expect.err
[ "$(images out.taper)" -eq 3 ]
"$TAPER" ls out.taper | grep -q 'ml..*ut'
expect 1 '*odd.zip/../up.png: its name leads out of the archive*' "$TAPER" encode -f -m model.tpm -o out.taper odd.zip
[ "$(images out.taper)" -eq 2 ]
expect 1 '*claims.tar/huge.png: takes 8796093022208 bytes*' "$TAPER" encode -f -m model.tpm -o out.taper claims.tar
expect 1 '*bomb.zip/bomb.ppm: *limit of 67108864*' \
    "$TAPER" encode -f -m model.tpm --max-memory 64M -o out.taper bomb.zip
[ "$(images out.taper)" -eq 1 ]
# holes of a sparse file are zeros
cp one.png holes.bin
truncate -s 3G holes.bin
tar cSf holes.tar holes.bin one.png
expect 1 '*holes.tar/holes.bin: takes *' "$TAPER" encode -f -m model.tpm --max-memory 64M -o out.taper holes.tar

# memory: 41 MB of images in 20 MB
mkdir large
convert -size 300x300 plasma:red-blue -depth 8 large/0.ppm
for k in $(seq 150); do ln large/0.ppm large/$k.ppm; done
tar --hard-dereference -cf large.tar large
encode --quick --bpp 0.05 --max-memory 20M --group 1 -T 1 -o large.taper large.tar
[ "$(images large.taper)" -eq 151 ]
encode --max-images 5 -o none.taper large.tar 2>said && exit 1
grep -q 'more than 5 images' said

# a library that is missing is named
mkdir none
library=$(grep -ao 'libarchive\.so[.0-9]*' "$TAPER" | head -n 1)
: >"none/$library"
LD_LIBRARY_PATH=$PWD/none expect 2 '*a.tar: archives are not read: *; install libarchive*' \
    "$TAPER" encode -m model.tpm -o none.taper a.tar
test ! -e none.taper
nothing_left
