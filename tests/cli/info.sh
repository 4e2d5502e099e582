# info: containers whole and cut, models, as words and as JSON lines.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" info set.taper model.tpm >said
grep -q '^set.taper: container$' said
grep -q '^  images    60, 32 x 32, RGB$' said
grep -q '^  labels    10 classes: arrow (6), ' said
grep -q '^  state     whole$' said
grep -q '^model.tpm: model$' said
grep -q '^  window    8 x 8 ' said
id=$(sed -n 's/^  id        //p' said)
grep -q "^  model     $id, not in the file" said
printf 'P5 1 3 255\nabc' >tall.pgm
printf 'P5 3 1 255\nabc' >wide.pgm
"$TAPER" encode --best -q -m tiny -o sizes.taper tall.pgm wide.pgm
"$TAPER" info sizes.taper | grep -q '^  images    2, widths 1 to 3, heights 1 to 3, grey$'
"$TAPER" info -v set.taper | grep -q '^      60  32 x 32  RGB    8 bits  star  star/0006.png$'

"$TAPER" info --json set.taper model.tpm >lines
test "$(wc -l <lines)" -eq 2
test "$(head -n 1 lines | json_number schema)" -eq 1
test "$(head -n 1 lines | json_number images)" -eq 60
test "$(head -n 1 lines | json_number whole_bytes)" -eq "$(wc -c <set.taper)"
test "$(tail -n 1 lines | json_number units)" -eq 192
grep -q "\"id\":\"$id\"" lines

head -c 9000 set.taper >cut.taper
"$TAPER" info cut.taper | grep -q "^  state     cut: 9000 of $(wc -c <set.taper) bytes "
"$TAPER" info --json - <cut.taper | grep -q '"bytes":9000,.*"whole":false'
"$TAPER" info - <model.tpm | grep -q '^-: model$'

head -c 100 set.taper >front.taper
expect 3 '*front.taper: incomplete header, need * more byte*' "$TAPER" info front.taper
expect 3 '*arrow/0001.png: not a taper container*' "$TAPER" info set/png/arrow/0001.png
expect 5 '*cannot open*' "$TAPER" info nowhere.taper
expect 5 '*set/png: *' "$TAPER" info set/png
expect 6 '*--max-images*' "$TAPER" info --max-images 59 set.taper
expect 2 '*give a container*' "$TAPER" info

# what a model asks of a processor, and the limit on it
"$TAPER" info --json "$ROOT/models/photo.tpm" >lines
test "$(json_number multiply_adds <lines)" -eq 9599
most=$(json_number most_multiply_adds <lines)
"$TAPER" info "$ROOT/models/photo.tpm" |
    grep -q "^  work      9599 multiply-adds a pixel to decode all passes, at most $most\$"
expect 6 "*model can take $most multiply-adds a pixel*limit of $((most - 1)); give --max-work $most *" \
    "$TAPER" info --max-work $((most - 1)) "$ROOT/models/photo.tpm"
"$TAPER" info --max-work "$most" "$ROOT/models/photo.tpm" >lines
for verb in "encode -o work.taper" "decode -o work" "repack --layout image -o work.taper"; do
    input=set.taper
    test "${verb%% *}" = encode && input=set/png
    expect 6 "taper ${verb%% *}: model.tpm: *--max-work*" \
        "$TAPER" $verb --max-work 10 -m model.tpm $input
done
