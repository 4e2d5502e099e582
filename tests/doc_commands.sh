# doc_commands.sh -- runs the sh blocks of docs/$page.md as they stand, in order; sourced by tests/cli/doc-PAGE.sh.
# What they print is left in the file `told`.
mkdir bin work
ln -s "$TAPER" bin/taper
ln -s "$SAMPLES" bin/make_samples
PATH=$PWD/bin:$PATH
sed -n '/^```sh$/,/^```$/{/^```/!p}' "$ROOT/docs/$page.md" >commands
test "$(wc -l <commands)" -ge 8
(cd work && sh -eu ../commands) >told 2>&1 || { tail -n 20 told; exit 1; }
