# The commands of docs/search.md, embeddings.md and training.md run as they stand, page by page.
mkdir bin
ln -s "$TAPER" bin/taper
ln -s "$SAMPLES" bin/make_samples
PATH=$PWD/bin:$PATH
for page in search embeddings training; do
    mkdir $page
    sed -n '/^```sh$/,/^```$/{/^```/!p}' "$ROOT/docs/$page.md" >$page.commands
    test "$(wc -l <$page.commands)" -ge 8
    (cd $page && sh -eu ../$page.commands) >$page.told 2>&1 ||
        { echo "docs/$page.md:"; tail -n 20 $page.told; exit 1; }
done

# the shape of what docs/search.md shows, and its nearest image; the others depend on the processor's rounding
sed -n '/^    query,rank/,/^$/s/^    //p' "$ROOT/docs/search.md" | head -n 2 >shown
test -s shown
while read -r line; do grep -qxF -e "$line" search.told; done <shown
