# classify --link: a link to each file in the folder of the label that the CSV gives it.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
mkdir -p new/sub
i=0
for file in set/png/*/*1.png; do
    i=$((i + 1))
    cp "$file" "new/$([ $i -lt 5 ] || echo sub/)$i.png"
done
"$TAPER" classify -q --among set/png --link sorted -o labels.csv new
awk -F , 'NR > 1 { print "sorted/" $2 "/" $1 }' labels.csv | sort >wanted
find sorted -type l | sort >got
diff wanted got
test "$(find sorted -type f | wc -l)" -eq 0
while read -r link; do
    # sorted/LABEL/NAME is the file new/NAME
    name=${link#sorted/}
    cmp "$link" "new/${name#*/}"
done <got

# again: links that are right stay; one that leads elsewhere, and a file, do not go without -f; a file never
first=$(head -n 1 got)
second=$(sed -n 2p got)
rm "$first" "$second"
ln -s /nowhere "$first"
echo mine >"$second"
expect 1 '*is a link to another file; give -f*' "$TAPER" classify --among set/png --link sorted -o again.csv new
expect 1 '*is a file that is no link*' "$TAPER" classify -f --among set/png --link sorted -o again.csv new
test "$(readlink "$first")" != /nowhere
grep -q mine "$second"

# names that are unsafe as folders; what has no file of its own
mkdir -p odd
printf 'name,label\n' >odd.csv
for file in set/png/*/*2.png; do
    n=$(basename "$(dirname "$file")")-$(basename "$file")
    cp "$file" "odd/$n"
    printf '%s,"../%s"\n' "$n" "${n%%-*}" >>odd.csv
done
"$TAPER" classify -q --among odd --among-labels odd.csv --link safe -o safe.csv new
test ! -e ../bolt
find safe -type l | grep -q '^safe/[.][.]_'
"$TAPER" train -q -w whole -k 9 -o whole.tpm set/png
"$TAPER" encode -q -o set.taper -m whole.tpm set/png
expect 2 '*--link links to files of one image each*' "$TAPER" classify -m whole.tpm --among set.taper --link other set.taper
expect 2 '*omit --unlabelled*' "$TAPER" classify --unlabelled --link other set/png
