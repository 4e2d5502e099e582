# A mistyped option of every verb: exit code 2 and where to look.
for verb in $("$TAPER" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    code=0
    "$TAPER" "$verb" --hepl 2>said || code=$?
    test "$code" -eq 2
    grep -q "^taper $verb: unknown option '--hepl'; did you mean '--help'? (see: taper $verb --help)\$" said
done
