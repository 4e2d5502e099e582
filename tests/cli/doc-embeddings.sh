# The commands of docs/embeddings.md run.
page=embeddings
. "$ROOT/tests/doc_commands.sh"
grep -q 'suggestions by 5 votes' told
test -s work/map.html
test -s work/errors.html
