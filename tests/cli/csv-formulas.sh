# Names and labels that a spreadsheet would take for formulas: no field of CSV begins as one, and --labels reads
# what was written back into the same names and classes.
. "$ROOT/tests/cli_helpers.sh"
bars bars 4
mkdir set
mv bars/lying 'set/=1+1'
mv bars/standing "set/'=q"
mv bars/both 'set/-x'
mv 'set/=1+1/101.pgm' 'set/=1+1/@a.pgm'
"$TAPER" train -q --window 8 --units 6 -o m.tpm set
"$TAPER" embed -q -m m.tpm -o codes.csv --labels-out labels.csv set
mkdir flat
cp 'set/=1+1/@a.pgm' flat/=a.pgm
cp 'set/=1+1/102.pgm' flat/+b.pgm
"$TAPER" embed -q -m m.tpm -o flat.csv flat
"$TAPER" classify -q -m m.tpm --among set flat >votes.csv
for file in codes.csv labels.csv votes.csv flat.csv; do
    [ "$(wc -l <$file)" -ge 2 ]
    if grep -nE "(^|,)\"?[=+@]" $file; then echo "$file has a formula"; exit 1; fi
    if grep -nE "(^|,)\"?-[^,]*[^0-9.,e-]" $file; then echo "$file has a formula"; exit 1; fi
done
grep -q "^\./=1+1/@a\.pgm,'=1+1$" labels.csv
grep -q "^'=q/101\.pgm,''=q$" labels.csv
grep -q "^\./-x/101\.pgm,'-x$" labels.csv
grep -q '^\./=a\.pgm,' flat.csv

"$TAPER" encode -q -m m.tpm --labels labels.csv -o read.taper set
"$TAPER" encode -q -m m.tpm -o folders.taper set
cmp read.taper folders.taper
"$TAPER" encode -q -f -m m.tpm --labels votes.csv -o read.taper flat # names and labels, as classify writes them
nothing_left
