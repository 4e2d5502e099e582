# compare: a model and containers against JPEG, the report folder, and the figures' independence of -T.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 80 --format png
"$TAPER" train -q -w 8 -o model.tpm set/png
compare() { "$TAPER" compare -q -r jpeg "$@"; }

# the table, and the one JSON object
compare -m model.tpm set/png >table
grep -q '^taper      file  ' table
grep -q '^taper      file+model' table
grep -q '^JPEG       payload' table
compare -m model.tpm --json -T 1 set/png >one
compare -m model.tpm --json -T 3 set/png >three
cmp one three
test "$(wc -l <one)" -eq 1
for key in '{"schema":1,"images":80,"pixels":81920,"curves":\[{"codec":"taper","accounting":"file","points":\[{"bytes_per_image":' \
    '"psnr_db":' '"psnr_of_mean_mse_db":' '"ms_ssim":' '{"codec":"jpeg","accounting":"payload","points":' \
    '"bd_rate":\[{"codec":"taper","accounting":"file","anchor":"jpeg","anchor_accounting":"file","percent":-'
do grep -q "$key" one; done

# containers: their originals are found by name, so that the rival sees the same images; a cut one ends sooner
rivals_part() { sed 's/.*{"codec":"jpeg"/{"codec":"jpeg"/; s/"bd_rate".*//' "$1"; }
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
compare -m model.tpm --json set.taper set/png >given
test "$(rivals_part given)" = "$(rivals_part one)"
grep -q 'file+model' given
"$TAPER" encode --best -q -m model.tpm --embed-model -o own.taper set/png
compare --json own.taper set/png >embedded
grep -q '"file"' embedded
if grep -q 'file+model' embedded; then exit 9; fi
head -c 12000 set.taper >cut.taper
compare -m model.tpm --json cut.taper set/png >cut
test "$(grep -o '"bytes_per_image":150,' cut | wc -l)" -eq 1
"$TAPER" encode --best -q -m model.tpm --layout image -o images.taper set/png
compare -m model.tpm images.taper set/png >/dev/null

# the report: everything in it, nothing from elsewhere, and not overwritten without -f
compare -m model.tpm -n 30 -o report set/png >/dev/null
for file in index.html rd.csv rd.gp; do test -s "report/$file"; done
grep -q '^jpeg,payload,4:' report/rd.csv
grep -q 'data:image/png;base64,' report/index.html
grep -q 'taper compare -q -r jpeg -m model.tpm -n 30 -o report set/png' report/index.html
if grep -Eq '(src|href)="[^d#]|url\(|<link|@import|fetch\(' report/index.html; then exit 9; fi
if grep -oE 'https?://[a-z0-9.]*' report/index.html | grep -v '//www.w3.org$'; then exit 9; fi # namespaces of SVG
grep -q '^@media (prefers-color-scheme: dark)' report/index.html
grep -Eq '<h1>[0-9.]+ % fewer bytes than JPEG at equal PSNR</h1>' report/index.html
grep -Eq 'The model takes [0-9.]+ kB more, once for all images; with it: [0-9.]+ % (fewer|more) bytes' report/index.html
# sizes are for people; in base64 such letters come by chance
if sed 's,base64[^"]*,,g' report/index.html | grep -Eq '[0-9]e\+[0-9]'; then exit 9; fi
order() { grep -oE '<h2>[^<]*' "$1" | tr '\n' ' '; }
order report/index.html | grep -q '^<h2>Images <h2>Bytes per image at equal quality <h2>BD-rate <h2>Rate and distortion <h2>Codecs'
grep -q '<h3>arrow/<wbr>[0-9]*.png</h3>' report/index.html
before=$(cksum <report/index.html)
code=0; compare -m model.tpm -n 30 -o report set/png >/dev/null 2>why || code=$?
test "$code" -eq 5
grep -q 'report/index.html: exists; -f' why
test "$before" = "$(cksum <report/index.html)"
compare -m model.tpm -n 20 -f -o report set/png >/dev/null

# nor with it, where someone changed a file of it, or has one of that name
for file in index.html rd.csv rd.gp; do
    cp report/$file kept
    echo '# mine' >>report/$file
    before=$(cat report/* | cksum)
    expect 5 "taper compare: report: has a file $file that is not as *: it is not overwritten, even with -f; remove it*" \
        "$TAPER" compare -q -r jpeg -m model.tpm -n 20 -f -o report set/png
    test "$before" = "$(cat report/* | cksum)"
    cp kept report/$file
done
mkdir mine
echo mine >mine/rd.csv
expect 5 '*mine: has a file rd.csv that is not as*' "$TAPER" compare -q -r none -m model.tpm -n 2 -f -o mine set/png
test "$(cat mine/*)" = mine
# a link is no part of a report: what it leads to stays
mv report/rd.csv elsewhere.csv
ln -s ../elsewhere.csv report/rd.csv
expect 5 '*report: has a file rd.csv that is not as*' "$TAPER" compare -q -r none -m model.tpm -n 2 -f -o report set/png
mv -f elsewhere.csv report/rd.csv
# files that appear while it measures are kept, without -f, too
"$TAPER" compare -q -r jpeg -m model.tpm -o late set/png >/dev/null 2>late.err &
while [ ! -d late ]; do sleep 0.01; done
echo precious >late/rd.csv
wait $! && { echo "compare replaced a file that appeared meanwhile"; exit 1; }
test "$(cat late/rd.csv)" = precious
grep -q 'late/rd.csv: exists; -f' late.err
compare -m model.tpm -n 20 -f -o report set/png >/dev/null
if command -v gnuplot >/dev/null; then
    for file in rd.svg rd.png ms_ssim.svg; do test -s "report/$file"; done
    test "$(grep -c '<svg' report/index.html)" -eq 2
    for plot in report/rd.svg report/ms_ssim.svg report/index.html; do
        grep -q 'prefers-color-scheme:dark' $plot
        if grep -Eiq '<rect[^>]*fill="(#ffffff|white)"' $plot; then exit 9; fi
    done
fi
test "$(ls -A report | grep -c tmp)" -eq 0

# photographs: each codec that was measured, at each cut; names are those of the files, and text is text; a model that
# is built in is not counted
mkdir photos
python3 - <<'P' 2>/dev/null || true
w, h = 800, 140
with open("photos/a <b> & 'c'.ppm", "wb") as f:
    f.write(b"P6 %d %d 255\n" % (w, h))
    f.write(bytes((x * 7 // (c + 3) + y * y // 9 + (x * y >> 5)) & 255
                  for y in range(h) for x in range(w) for c in range(3)))
P
if [ -n "$(ls photos)" ]; then
    "$TAPER" compare -q -r jpeg,webp --examples 1 -o shown photos >shown.table
    page=shown/index.html
    grep -q '<h2>Photographs' $page
    grep -qF "<h3>a &lt;b&gt; &amp; 'c'.ppm</h3>" $page
    grep -qF 'Shown: the middle 768 × 140 of 800 × 140 pixels.' $page
    if grep -q 'file+model' $page shown.table; then exit 9; fi
    cuts=$(grep -c '<figure data-by="taper" data-cut' $page)
    test "$cuts" -ge 3
    test "$(grep -c '<figure data-by="JPEG" data-cut' $page)" -eq "$cuts"
    if grep -q '^WebP *file' shown.table; then
        test "$(grep -c '<figure data-by="WebP" data-cut' $page)" -eq "$cuts"
        grep -q 'src="data:image/webp;base64' $page
    fi
    grep -q 'src="data:image/jpeg;base64' $page
    test "$(grep -c '<figure data-by="original">' $page)" -eq 1
    test "$(grep -c '<script>' $page)" -eq 1
    grep -q '<details open>' $page # all pictures are there without the script
    sed '1,/^<script>$/d; /^<\/script>$/,$d' $page >page.js
    if command -v node >/dev/null; then node --check page.js; fi
    "$TAPER" encode --best -q -o photos.taper photos
    # a report that was interrupted while its pictures were made can be replaced
    "$TAPER" compare -q -r jpeg -o stopped photos.taper photos >/dev/null &
    while [ ! -e stopped/index.html ]; do sleep 0.05; done
    kill -INT $! 2>/dev/null || :
    wait $! || :
    "$TAPER" compare -f -q -r none --examples 0 -o stopped photos.taper photos >/dev/null
    "$TAPER" compare -q -r none --examples 1 -o alone photos.taper photos >alone.txt
    not grep -q 'vs JPEG' alone.txt # no columns for a codec that was not measured
    grep -q '<h1>taper on 1 image</h1>' alone/index.html
else
    echo 'no python3: no page of photographs is made'
fi

# without gnuplot the rest is done, and the package is named
mkdir none
PATH=$PWD/none "$TAPER" compare -q -r jpeg -m model.tpm -n 20 -o bare set/png >/dev/null 2>why
grep -q 'gnuplot-nox' why
test -s bare/index.html

# what cannot be compared
fails() { code=0; "$TAPER" compare -q "$@" >out 2>why || code=$?; test ! -s out; }
fails -m model.tpm -r jpg set/png; test "$code" -eq 2; grep -q "did you mean 'jpeg'" why
fails -m model.tpm; test "$code" -eq 2
fails set.taper set/png; test "$code" -eq 2; grep -q 'model' why
rm "$(find set/png -name '*.png' | sort | head -n 1)"
fails -m model.tpm -r none set.taper set/png; test "$code" -eq 2; grep -q 'not among the originals' why
