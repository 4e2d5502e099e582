# Every verb that reads a container takes a URL, and gives what it gives for the file; of a set, few requests and bytes.
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light
small_set 120
mkdir www
"$TAPER" encode --best -q -m model.tpm --layout gallery -o www/g.taper set/png
"$TAPER" encode --best -q -m model.tpm -o www/s.taper set/png
cp model.tpm www
serve_www

# the same words, but for the name, and for the speed of a message
same() { # verb, options...
    verb=$1
    shift
    for name in g s; do
        "$TAPER" "$verb" "$@" "www/$name.taper" >file.out 2>file.err || cat file.err
        "$TAPER" "$verb" "$@" "$url/$name.taper" >url.out 2>url.err || cat url.err
        sed "s#$url/#www/#" url.out | diff file.out - || { echo "$verb differs"; exit 1; }
    done
}
same info
same info --json
same ls -l
same verify

for way in "-o OUT" "-i 7 -o OUT" "-i 7,30-40 -o OUT --scale 1/2" "--bpp 0.5 -o OUT" "-b 4K -o OUT"; do
    for name in g s; do
        rm -rf a b
        # shellcheck disable=SC2086
        "$TAPER" decode -q -m model.tpm ${way%OUT*}a${way#*OUT} www/$name.taper
        # shellcheck disable=SC2086
        "$TAPER" decode -q -m $url/model.tpm ${way%OUT*}b${way#*OUT} $url/$name.taper
        diff -r a b
    done
done
"$TAPER" extract -q -m model.tpm -o c $url/s.taper 7
diff -r c/* "$(find a b -name "$(cd c && find . -name '*.png' | sed 's#.*/##')" | head -1)" >/dev/null || test "$(count_png c)" -eq 1
"$TAPER" decode -q -m model.tpm --progressive -o d $url/s.taper
rm -rf a
"$TAPER" decode -q -m model.tpm -o a www/s.taper
diff -r a d

for name in g s; do
    "$TAPER" truncate -q --quick -b 6K -o a.taper www/$name.taper
    "$TAPER" truncate -q --quick -b 6K -o b.taper -f $url/$name.taper
    cmp a.taper b.taper
    rm a.taper
    "$TAPER" repack -q -m model.tpm --layout image -o a.taper www/$name.taper
    "$TAPER" repack -q -m model.tpm --layout image -f -o b.taper $url/$name.taper
    cmp a.taper b.taper
    rm a.taper
done
"$TAPER" merge -q -o a.taper www/s.taper www/s.taper
"$TAPER" merge -q -f -o b.taper $url/s.taper www/s.taper
cmp a.taper b.taper
"$TAPER" remove -q -m model.tpm -o less.taper $url/s.taper 3-120
test "$("$TAPER" ls less.taper | wc -l)" -eq 2
"$TAPER" sheet -q -m model.tpm -o a.png www/g.taper
"$TAPER" sheet -q -m model.tpm -o b.png $url/g.taper
cmp a.png b.png
expect 2 '*is a URL, whose file cannot be changed; give -o FILE*' "$TAPER" remove $url/s.taper 3

# what that takes
asked() { # options of decode; prints requests and bytes
    "$TAPER" decode -v -f -m model.tpm "$@" 2>&1 | sed -n 's/.*taper: \([0-9]*\) requests*, \([0-9]*\) bytes$/\1 \2/p'
}
all=$(wc -c <www/s.taper)
read -r requests bytes <<END
$(asked -o e $url/s.taper)
END
[ "$requests" -le 3 ] && [ "$bytes" -eq "$all" ] || { echo "all: $requests requests, $bytes bytes of $all"; exit 1; }
read -r requests bytes <<END
$(asked -b 4K -o e $url/s.taper)
END
[ "$requests" -eq 1 ] && [ "$bytes" -le 20480 ] || { echo "a cut: $requests requests, $bytes bytes"; exit 1; }

# messages have neither credentials nor queries, and libcurl sends the former
"$TAPER" ls -v "http://me:secret@${url#http://}/s.taper?key=secret" >out 2>err
not grep -q secret out err
grep -q '/s.taper?\.\.\.: ' err
expect 5 "taper ls: $url/none.taper: the server answers 404: there is no such file; check the URL" \
    "$TAPER" ls $url/none.taper
http_proxy=$url "$TAPER" ls http://nowhere.invalid/s.taper >proxied
"$TAPER" ls www/s.taper | diff - proxied
expect 5 '*no connection to the server; check the URL and the network' "$TAPER" ls http://127.0.0.1:1/s.taper
expect 5 '*no connection to the server; check the URL and the network' \
    "$TAPER" classify -a http://127.0.0.1:1/s.taper set/png
expect 2 '*is not a URL of http or https; blanks in it are written %20' "$TAPER" ls "$url/a b.taper"
nothing_left
