# A mistyped verb: one sentence with a suggestion, nothing on standard output.
"$TAPER" encdoe
