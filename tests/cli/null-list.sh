# Names of any bytes come in by `find -print0 | taper ... --filelist - --null`, in every verb with --filelist.
. "$ROOT/tests/cli_helpers.sh"
bars bars 4
mkdir odd
newline=$(printf 'a\nb')
tab=$(printf 'a\tb')
cp bars/lying/101.pgm "odd/$newline.pgm"
cp bars/lying/102.pgm "odd/$tab.pgm"
cp bars/lying/103.pgm 'odd/back\slash.pgm'
find odd -name '*.pgm' -print0 >names
"$TAPER" encode -q -m tiny -o set.taper --filelist - --null <names
"$TAPER" decode -q -o out set.taper
[ "$(find out -name '*.png' -print0 | tr -dc '\0' | wc -c)" -eq 3 ]
[ -e "out/odd/$newline.png" ] || [ -e "out/$newline.png" ]
# without --null it is told
expect 3 "*file list 'names' has NUL bytes; give --null *" "$TAPER" encode -m tiny -o none.taper --filelist names
# the other verbs
"$TAPER" train -q --quick --window 8 --units 6 -o m.tpm --filelist names --null
"$TAPER" embed -q -m m.tpm -o codes.csv --filelist names --null
[ "$(wc -l <codes.csv)" -eq 4 ]
"$TAPER" classify -q --among bars --filelist names --null >votes.csv
[ "$(wc -l <votes.csv)" -eq 4 ]
nothing_left
