# Manual pages, those made from the option tables and those written by hand, and completions are well formed.
renders() { # page
    if command -v groff >/dev/null; then
        groff -t -man -ww -Tascii "$1" >shown 2>warnings
        cat warnings >&2
        test ! -s warnings
    fi
}
for verb in taper $("$TAPER" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    "$TAPER" __man "$verb" >page
    grep -q '^\.SH NAME$' page
    renders page
done
for section in 3 5; do renders "$ROOT/docs/man/taper.$section"; done
# every function of the header is in taper(3)
cat "$ROOT"/codec/taper*.h | grep -oE 'taper_[a-z_]+\(' | tr -d '(' | sort -u >functions
test "$(wc -l <functions)" -gt 50
while read -r function; do
    grep -qw "$function" "$ROOT/docs/man/taper.3" || { echo "taper.3 lacks $function"; exit 1; }
done <functions
"$TAPER" __completion bash >script
bash -n script
"$TAPER" __completion zsh >script
if command -v zsh >/dev/null; then zsh -n script; fi
