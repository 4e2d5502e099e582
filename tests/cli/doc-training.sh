# The commands of docs/training.md run; a resumed run that was complete ends in the same model.
page=training
. "$ROOT/tests/doc_commands.sh"
test -s work/report/index.html
test "$(find work/out -name '*.png' | wc -l)" -eq 150
