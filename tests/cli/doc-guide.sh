# The commands of docs/guide.md run as they stand: all images come from the complete file, from its cut and from the
# pipe, and of some those that are asked for.
mkdir bin
ln -s "$TAPER" bin/taper
ln -s "$SAMPLES" bin/make_samples
sed -n '/^```sh$/,/^```$/{/^```/!p}' "$ROOT/docs/guide.md" >commands
test "$(wc -l <commands)" -ge 25
PATH=$PWD/bin:$PATH sh -eu commands >told 2>&1 || { tail -n 20 told; exit 1; }
for folder in out coarse coarse05 arriving; do
    test "$(find $folder -name '*.png' | wc -l)" -eq 12 || { echo "not 12 images in $folder"; exit 1; }
done
test "$(find some -name '*.png' | wc -l)" -eq 4
test "$(find sky -name '*-sky.png' | wc -l)" -eq 3
test "$(wc -c <front20.taper)" -le 20000
"$TAPER" verify joined.taper each.taper
# the table of verbs is whole
"$TAPER" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | while read -r verb; do
    grep -qE "^\|.*\`$verb\`" "$ROOT/docs/guide.md" || { echo "docs/guide.md lacks the verb $verb"; exit 1; }
done
