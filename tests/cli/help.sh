# Help goes to standard output and exits 0; without a verb the same words are a usage error.
"$TAPER" --help >all 2>err
test ! -s err
code=0
"$TAPER" >out 2>err || code=$?
test "$code" -eq 2
test ! -s out
cmp all err
verbs=$(sed -n 's/^  \([a-z-]*\) .*/\1/p' all)
test "$(echo $verbs | wc -w)" -ge 9
for verb in $verbs; do
    "$TAPER" "$verb" --help >one
    "$TAPER" help "$verb" | cmp - one
    grep -q "^usage: taper $verb " one
    test "$(awk 'length($0) > 100' one | wc -l)" -eq 0
done
for verb in embed classify; do # whose CSV says name, and not which
    "$TAPER" $verb --help | tr '\n' ' ' | grep -q 'Names are relative to the input folder: the file cats/old/1.png of the input cats/ is old/1.png\.'
done
"$TAPER" --version | grep -q '^taper [0-9]'
"$TAPER" --version -v | grep -q '^kernels: .'
