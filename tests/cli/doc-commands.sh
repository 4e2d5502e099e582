# The commands of docs/guide.md, search.md, embeddings.md and training.md run as they stand, page by page.
mkdir bin
ln -s "$TAPER" bin/taper
ln -s "$SAMPLES" bin/make_samples
PATH=$PWD/bin:$PATH
for page in guide search embeddings training; do
    mkdir $page
    sed -n '/^```sh$/,/^```$/{/^```/!p}' "$ROOT/docs/$page.md" >$page.commands
    test "$(wc -l <$page.commands)" -ge 8
    (cd $page && sh -eu ../$page.commands) >$page.told 2>&1 ||
        { echo "docs/$page.md:"; tail -n 20 $page.told; exit 1; }
done

# docs/guide.md: all images from the complete file, from its cut and from the pipe; those that are asked for
for folder in out coarse coarse05 arriving; do
    test "$(find guide/$folder -name '*.png' | wc -l)" -eq 12 || { echo "not 12 images in $folder"; exit 1; }
done
test "$(find guide/some -name '*.png' | wc -l)" -eq 4
test "$(find guide/sky -name '*-sky.png' | wc -l)" -eq 3
test "$(wc -c <guide/front20.taper)" -le 20000

# the shape of what docs/search.md shows, and its nearest image; the others depend on the processor's rounding
sed -n '/^    query,rank/,/^$/s/^    //p' "$ROOT/docs/search.md" | head -n 2 >shown
test -s shown
while read -r line; do grep -qxF -e "$line" search.told; done <shown
