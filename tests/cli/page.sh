# page writes a gallery for browsers: its files, its HTML, one file with all of it; nothing is overwritten unasked.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes scene --count 2
"$TAPER" encode -q -m tiny --layout gallery -o 'a <b>&"%.taper' scene
if ! "$TAPER" page -q -o page 'a <b>&"%.taper' 2>words; then
    grep -q 'built without a decoder for browsers: install clang' words
    echo "SKIP no clang for WebAssembly"
    exit 0
fi

# the folder: the container as it is, the model by its id, what the page names
id=$("$TAPER" info --json tiny | sed 's/.*"id":"\([0-9a-f]*\)".*/\1/')
cmp page/'a <b>&"%.taper' 'a <b>&"%.taper'
cmp "page/$id.tpm" "$ROOT/models/tiny.tpm"
for name in viewer.js viewer-more.js viewer.css taper.wasm taper-plain.wasm; do test -s "page/$name"; done
gzip -dc page/taper.wasm.gz | cmp - page/taper.wasm
for name in viewer.js viewer-more.js viewer.css; do gzip -dc page/$name.gz | cmp - page/$name; done
nothing_left

# names are text: in the title, in an address, in JSON
html=page/index.html
grep -q '<title>a &lt;b&gt;&amp;&quot;%</title>' $html
grep -q '"container": "a%20%3Cb%3E%26%22%25.taper", "name": "a \\u003cb\\u003e\\u0026\\u0022%.taper"' $html
grep -q "\"model\": \"$id.tpm\", \"model_id\": \"$id\"" $html
grep -q "content=\"default-src 'none'; script-src 'self' 'wasm-unsafe-eval';" $html
not grep -q '@[A-Z]*@' $html
not grep -q 'https*://' $html
"$TAPER" page -q -o titled --title '</title><script>x' 'a <b>&"%.taper'
not grep -q '<script>x' titled/index.html

# what is there stays, without -f; then all of it is new
echo mine >page/viewer.css
expect 5 '*viewer.css*File exists*' "$TAPER" page -o page 'a <b>&"%.taper'
grep -q mine page/viewer.css
"$TAPER" page -q -f -o page 'a <b>&"%.taper'
not grep -q mine page/viewer.css
expect 2 '*is an input*' "$TAPER" page -f -o . 'a <b>&"%.taper'
: >file
expect 5 '*file*' "$TAPER" page -o file 'a <b>&"%.taper'
mkdir some
echo mine >some/index.html
expect 5 '*index.html*File exists*' "$TAPER" page -o some 'a <b>&"%.taper'
test "$(ls some)" = index.html

# elsewhere: no copy, and the policy names the server alone
mv 'a <b>&"%.taper' set.taper
"$TAPER" page -q -o far --url "https://data.example:8443/sets/x.taper?v=1;'" set.taper
not test -e far/set.taper
grep -q "connect-src 'self' https://data.example:8443; " far/index.html
"$TAPER" page -q -o near --url ../set.taper set.taper
grep -q '"container": "../set.taper"' near/index.html
grep -q "connect-src 'self'; " near/index.html

# a container with its model in it, and one file of all
"$TAPER" encode -q -m tiny --embed-model -o own.taper scene
"$TAPER" page -q -o own own.taper
grep -q '"model": null' own/index.html
not test -e "own/$id.tpm"
"$TAPER" page -q --single all.html set.taper
sed -n 's/.*<script type="text\/plain" id="held-container">\(.*\)<\/script>/\1/p' all.html | base64 -d | cmp - set.taper
sed -n 's/.*<script type="text\/plain" id="held-model">\(.*\)<\/script>/\1/p' all.html | base64 -d | cmp - "$ROOT/models/tiny.tpm"
grep -q '"container": null' all.html
test "$(grep -c '</script>' all.html)" -eq 6
expect 5 '*all.html*File exists*' "$TAPER" page --single all.html set.taper
nothing_left

# a cut, standard input; models that are nowhere; words that are wrong
head -c $(($(wc -c <set.taper) / 2)) set.taper >cut.taper
"$TAPER" page -q -o cut cut.taper
cmp cut/cut.taper cut.taper
"$TAPER" page -q -o piped - <set.taper
cmp piped/images.taper set.taper
expect 2 '*give a folder*' "$TAPER" page set.taper
expect 2 '*give one container*' "$TAPER" page -o none
expect 2 '*leave out --url*' "$TAPER" page --single none.html --url x set.taper
head -c 40 set.taper >head.taper
expect 3 '*incomplete header*' "$TAPER" page -o none head.taper
not test -e none

# the scripts are legal
if command -v node >/dev/null; then
    node --check --input-type=module <page/viewer.js
    node --check --input-type=module <page/viewer-more.js
fi
