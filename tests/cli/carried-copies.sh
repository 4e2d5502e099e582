# Every verb that copies a container, on every layout, lossless and lossy, with a model between the layers and without:
# the images that stay have the same pixels. With drawings, further names, and alpha or codes for search.
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light
small_set 24
rm model.tpm
"$TAPER" train -q --quick --window 8 --conditional 8 --predict-epochs 1 -o model.tpm set/png
"$TAPER" train-bits -q -w whole -k 32 --independent -e 1 -o bits.tpm set/png
[ "$("$TAPER" info --json model.tpm | json_number stages)" -ge 3 ]
mkdir in more www
# scenes, one with alpha; drawings; the same file under another name
/usr/bin/python3 - <<'END'
import math
from PIL import Image, ImageDraw
def scene(seed, width, height):
    image = Image.new("RGB", (width, height))
    image.putdata([tuple(int(128 + 60 * math.sin((x + seed) / (5 + c)) + 50 * math.cos(y / (7 + seed) + c)
                             + (x * y * 7919 + seed * 31 + c * 57) % 17) for c in range(3))
                   for y in range(height) for x in range(width)])
    return image
scene(1, 90, 70).save("in/a.png")
scene(2, 48, 64).save("in/b.png")
scene(3, 40, 40).convert("L").save("in/c.png")
soft = scene(4, 50, 40)
soft.putalpha(Image.linear_gradient("L").resize((50, 40)))
soft.save("in/d.png")
for name, shade in ("e", "red"), ("f", "blue"):
    drawing = Image.new("RGB", (60, 40), "white")
    ImageDraw.Draw(drawing).rectangle((10, 5, 40, 30), shade)
    drawing.save("in/%s.png" % name)
scene(5, 60, 44).save("more/new.png")
END
cp in/a.png in/same.png
cp -r in opaque
rm opaque/d.png
serve_www

same() { # container, folder
    "$TAPER" verify -q --strict "$1" >said
    rm -rf out
    "$TAPER" decode -q $model -o out "$1"
    diff -r out "$2" || { echo "$what: $1"; exit 1; }
}
carries() { # container, folder: as same, with what the container must carry
    same "$1" "$2"
    "$TAPER" info --json "$1" >told
    [ $holds != codes ] || grep -q '"search_bits":32,' told
    [ $kind = lossy ] || grep -q "\"exact_images\":$(json_number images <told)" told
    [ $holds = without ] || grep -q '"embedded_model_bytes":[1-9]' told
}

for layout in set image gallery; do
    for kind in lossless lossy; do
        for holds in stages codes without; do # codes for search: with stages, without alpha
            [ $holds$layout != codesimage ] && [ $holds$layout != codesgallery ] || continue
            what="$layout, $kind, $holds" file=$layout-$kind-$holds.taper
            options="--layout $layout --drawings exact --dedup" model='' codes='' inputs=in
            [ $kind = lossy ] || options="$options --lossless --quality 45"
            [ $holds = without ] || options="$options --embed-model"
            [ $holds != without ] || model='-m model.tpm'
            [ $holds != codes ] || { codes='--embed-with bits.tpm' inputs=opaque; }
            "$TAPER" encode -q -m model.tpm $codes $options -o www/$file $inputs
            rm -rf whole
            "$TAPER" decode -q $model -o whole www/$file
            [ $kind = lossy ] || python3 "$ROOT/tests/same_pixels.py" $inputs whole >said
            "$TAPER" info www/$file >told
            grep -q '1 more file' told && grep -q '2 drawings' told
            stages=$(grep -c ' stage [0-9]' told || true)
            [ $holds = without ] || [ $layout = image ] || [ "$stages" -ge 1 ]

            for other in set image gallery; do
                "$TAPER" repack -q -f $model --layout $other -o copy.taper www/$file
                carries copy.taper whole
            done
            "$TAPER" repack -q -f $model --group 2 --strip -o copy.taper www/$file
            carries copy.taper whole
            "$TAPER" merge -q -f -o copy.taper www/$file
            carries copy.taper whole
            "$TAPER" truncate -q -f --bytes "$(wc -c <www/$file)" -o copy.taper www/$file
            carries copy.taper whole
            "$TAPER" truncate -q -f --strip --bytes "$(wc -c <www/$file)" -o copy.taper www/$file
            carries copy.taper whole
            cp www/$file copy.taper
            "$TAPER" rename -q copy.taper b.png renamed.png
            mv whole/b.png whole/renamed.png
            carries copy.taper whole
            mv whole/renamed.png whole/b.png

            # a scene; a drawing; what has further names, of which one takes its place; more than one
            for gone in b.png a.png 'b.png c.png f.png'; do
                cp -r whole less
                (cd less && rm $gone)
                "$TAPER" remove -q -f $model -o copy.taper www/$file $gone
                carries copy.taper less
                numbers=$("$TAPER" ls --json www/$file | awk -F'"' -v gone=" $gone " '
                    { for (i = 2; i < NF; i++) if ($i == "name" && !index(gone, " " $(i + 2) " ")) print NR }' | paste -sd ,)
                "$TAPER" fetch -q -f $model -i "$numbers" -o copy.taper $url/$file
                carries copy.taper less
                rm -r less
            done

            # cut in the exact part: told where that begins, stages counted
            if [ $layout$kind$holds = setlosslessstages ]; then
                "$TAPER" truncate -q -f --bytes $(($(wc -c <www/$file) - 9)) -o cut.taper www/$file
                expect 2 '*exact part that was cut cannot be separated*' "$TAPER" remove -f -o copy.taper cut.taper b.png
                begin=$(sed -n 's/.* cut the container to \([0-9]*\) bytes before.*/\1/p' expect.err)
                "$TAPER" info --json cut.taper | grep -q "\"end\":$begin[,}]"
            fi

            # added, and added in the place of another
            cp www/$file copy.taper
            "$TAPER" add -q -m model.tpm $codes copy.taper more/new.png
            "$TAPER" extract -q -f $model -o new copy.taper new.png
            [ $kind = lossy ] || cmp new/new.png more/new.png ||
                python3 "$ROOT/tests/same_pixels.py" new more >said
            mv new/new.png whole/new.png
            carries copy.taper whole
            cp more/new.png b.png
            "$TAPER" add -q -f -m model.tpm $codes copy.taper b.png
            cp whole/new.png whole/b.png
            same copy.taper whole
        done
    done
done
