# The commands of docs/search.md run, and print what the page shows: its form and the nearest image. Other distances depend
# on the processor's rounding.
page=search
. "$ROOT/tests/doc_commands.sh"
sed -n '/^    query,rank/,/^$/s/^    //p' "$ROOT/docs/search.md" | head -n 2 >shown
test -s shown
while read -r line; do grep -qxF -e "$line" told; done <shown
