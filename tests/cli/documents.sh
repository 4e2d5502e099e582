# Manual pages and completions that are made from the option tables are well formed.
for verb in taper $("$TAPER" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$TAPER" __man "$verb" >page
    grep -q '^\.SH NAME$' page
    if command -v groff >/dev/null; then
        groff -man -ww -Tascii page >shown 2>warnings
        cat warnings >&2
        test ! -s warnings
    fi
done
"$TAPER" __completion bash >script
bash -n script
"$TAPER" __completion zsh >script
if command -v zsh >/dev/null; then zsh -n script; fi
