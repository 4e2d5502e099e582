# Containers with the stages of their model between the layers, through every verb: a model that is not built in. What
# comes out is what the same container gives without stages, with the model given.
. "$ROOT/tests/cli_helpers.sh"
small_set 24
rm model.tpm
"$TAPER" train -q --quick --window 8 --conditional 8 --predict-epochs 1 -o model.tpm set/png
[ "$("$TAPER" info --json model.tpm | json_number stages)" -ge 3 ]
size=$(wc -c <model.tpm)
mkdir www
for layout in set gallery; do
    "$TAPER" encode -q -m model.tpm --embed-model --layout $layout -o www/$layout.taper set/png
    "$TAPER" encode -q -m model.tpm --layout $layout -o plain-$layout.taper set/png
    "$TAPER" decode -q -m model.tpm -o whole-$layout plain-$layout.taper
done
same() { # container, with its own model; folder
    rm -rf out
    "$TAPER" decode -q -o out "$1"
    diff -r out "$2"
}

# a limit that a further stage does not fit into is told; one that ends before is not
for layout in set gallery; do
    "$TAPER" encode -f -m model.tpm --embed-model --layout $layout --bytes $size -o short.taper set/png 2>words
    grep -q 'of the model, which further passes need' words || { cat words; exit 1; }
    "$TAPER" encode -f -m model.tpm --layout $layout --bytes $size -o short.taper set/png 2>words
    not grep -q 'of the model, which' words
done

for layout in set gallery; do
    own=www/$layout.taper plain=plain-$layout.taper
    same $own whole-$layout
    all=$(wc -c <$own)
    [ "$all" -lt $((size + $(wc -c <$plain) + 200)) ]

    # info names the stages; the front matter has less than half of the model
    "$TAPER" info $own >told
    stages=$(grep -c '^ *[0-9]* stage [0-9]' told)
    [ "$stages" -ge 2 ]
    "$TAPER" info --json $own >told.json
    [ "$(grep -o '"stage":' told.json | wc -l)" -eq "$stages" ]
    [ "$(json_number embedded_model_bytes <told.json)" -eq "$size" ]
    front=$(json_number front_bytes <told.json)
    [ "$front" -lt $((size / 2)) ]
    "$TAPER" ls $own >ours
    "$TAPER" ls $plain | cmp - ours
    "$TAPER" verify $own | grep -q 'whole: '

    # any cut: before, within and behind each stage; the model given, or its first stages
    for place in $(awk '/ stage [0-9]/ { print $(NF - 1) - (n++ % 2) }' told) $((front + 9)); do
        [ "$place" -ge "$front" ] || continue
        head -c "$place" $own >cut.taper
        rm -rf out given
        "$TAPER" decode -q -o out cut.taper 2>words
        [ "$(count_png out)" -eq 24 ]
        rm -rf by-bytes
        "$TAPER" decode -q --bytes "$place" -o by-bytes $own 2>words
        diff -r out by-bytes
        "$TAPER" decode -q -m model.tpm -o given cut.taper 2>words
        [ "$(count_png given)" -eq 24 ]
        python3 "$ROOT/tests/mean_psnr.py" whole-$layout out >db
        python3 "$ROOT/tests/mean_psnr.py" whole-$layout given >given.db
        awk -v a="$(cat db)" -v b="$(cat given.db)" 'BEGIN { exit !(a > 10 && a < b + 0.5) }'
        "$TAPER" verify -q cut.taper >words
        # truncated there: a container of its own, that verifies and has no stage at its end
        "$TAPER" truncate -q --quick -f -b "$place" -o short.taper $own
        [ "$(wc -c <short.taper)" -le "$place" ]
        "$TAPER" verify -q short.taper >words
        "$TAPER" info short.taper | tail -n 1 >last
        not grep -q stage last
        rm -rf short
        "$TAPER" decode -q -o short short.taper 2>words
        [ "$(count_png short)" -eq 24 ]
    done
    expect 2 '*lacks stages of its model*' "$TAPER" repack -q -o none.taper cut.taper

    # verbs that write containers: the same pictures, with the model inside
    for other in set gallery image; do
        "$TAPER" repack -q -f --layout $other -o new.taper $own
        same new.taper whole-$layout
    done
    "$TAPER" merge -q -f -o new.taper $own
    same new.taper whole-$layout
    "$TAPER" encode -q -f -m model.tpm --layout $layout --embed-model -o half.taper set/png/ring
    "$TAPER" remove -q -f -o less.taper $own 'ring/*'
    "$TAPER" merge -q -f -o new.taper less.taper half.taper
    "$TAPER" info new.taper | grep -q ' stage [0-9]'
    rm -rf out
    "$TAPER" decode -q -o out new.taper
    [ "$(count_png out)" -eq 24 ]
    first=$("$TAPER" ls $own | head -n 1)
    cp $own new.taper
    "$TAPER" rename -q new.taper "$first" renamed.png
    "$TAPER" extract -q -f -o one new.taper renamed.png
    cmp one/renamed.png "whole-$layout/$first"
    cp less.taper new.taper
    "$TAPER" add -q new.taper set/png/ring
    "$TAPER" info new.taper | grep -q ' stage [0-9]'
    rm -rf out
    "$TAPER" decode -q -o out new.taper
    [ "$(count_png out)" -eq 24 ]

    "$TAPER" sheet -q -f -o sheet.png $own
    "$TAPER" decode -q -f --progressive -o progressive $own
    diff -r progressive whole-$layout

    # damage within a stage: found, told, and pictures of the stages before it
    cp $own bad.taper
    place=$(awk '/ stage [0-9]/ { print $(NF - 1) - 100; exit }' told)
    printf '\377\376' | dd of=bad.taper bs=1 seek="$place" conv=notrunc 2>/dev/null
    code=0
    "$TAPER" verify bad.taper >words 2>&1 || code=$?
    [ $code -eq 3 ] && grep -q damaged words
    rm -rf out
    "$TAPER" decode -q -o out bad.taper 2>words
    [ "$(count_png out)" -eq 24 ]
    expect 2 '*lacks stages of its model*' "$TAPER" repack -q -f -o none.taper bad.taper
done

# a stage that changes pictures after all passes before it were drawn: they are drawn again
"$TAPER" train -q --quick --fast --window 8 -o fast.tpm set/png
"$TAPER" encode -q -m fast.tpm --embed-model --layout gallery -o fast.taper set/png
place=$("$TAPER" info fast.taper | awk '/ stage [0-9]/ { print $(NF - 1); exit }')
"$TAPER" decode -q --bytes $((place - 3)) -o before fast.taper 2>words
"$TAPER" decode -q --bytes "$place" -o after fast.taper 2>words
not diff -r before after >words
{ head -c $((place - 3)) fast.taper && sleep 0.5 && head -c "$place" fast.taper | tail -c 3; } |
    "$TAPER" decode -q --progressive -o late - 2>words
diff -r after late

# from a URL: the pictures, and less of the model for small ones
needs nginx:nginx-light
serve_www
for layout in set gallery; do
    own=www/$layout.taper
    same $url/$layout.taper whole-$layout
    "$TAPER" fetch -q -f -o got.taper $url/$layout.taper
    cmp got.taper $own
    "$TAPER" fetch -q -f --scale 1/8 -o small.taper $url/$layout.taper
    [ "$(wc -c <small.taper)" -lt "$(wc -c <$own)" ]
    "$TAPER" decode -q -f --scale 1/8 -o small small.taper 2>words
    [ "$(count_png small)" -eq 24 ]
    "$TAPER" fetch -q -f -i 3 -o three.taper $url/$layout.taper
    "$TAPER" decode -q -f -o three three.taper
    diff "three/$("$TAPER" ls three.taper)" "whole-$layout/$("$TAPER" ls three.taper)"
done
"$TAPER" ls -v $url/gallery.taper 2>words >listed
