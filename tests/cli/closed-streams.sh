# Closed standard streams: no output holds messages, and data for a closed output are an error.
. "$ROOT/tests/cli_helpers.sh"
small_set 40
cp set/png/ring/0001.png colour.png
{ printf 'P5 32 32 255\n'; head -c 1024 /dev/zero; } >grey.pgm # beside colours a warning
printf '\211PNG\r\n\032\n' >bad.png
"$TAPER" train-bits -q -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o set.tpx set/png
"$TAPER" encode -q -m model.tpm -o set.taper set/png/ring

# closed or not: the same bytes in the output, the same exit code
same() { # VERB ARGUMENTS...: the output is `out`
    rm -rf out whole
    code=0
    "$TAPER" "$@" </dev/null >/dev/null 2>words || code=$?
    mv out whole
    for closed in '2>&-' '<&- >&-' '>&- 2>&-'; do
        got=0
        sh -c "\"\$0\" \"\$@\" $closed" "$TAPER" "$@" >/dev/null 2>&1 || got=$?
        [ "$got" -eq "$code" ] || { echo "exit code $got instead of $code: $* $closed"; exit 1; }
        cmp out whole || { echo "another output: $* $closed"; exit 1; }
        rm out
    done
}
same index -m bits.tpm -o out grey.pgm colour.png
grep -q 'is grey' words
same search -v -m bits.tpm -o out set.tpx grey.pgm bad.png
grep -q 'bad.png' words
same classify -v --among set/png -o out colour.png bad.png
grep -q 'bad.png' words
same embed -m bits.tpm -o out grey.pgm colour.png bad.png
grep -q 'bad.png' words
same encode -v -m model.tpm -o out grey.pgm bad.png
same truncate -v -m model.tpm --psnr 25 -o out set.taper
grep -q . words
same repack -v -m model.tpm --layout image -o out set.taper
same merge -v -o out set.taper
same train -v -T 1 --window 8 -o out set/png/ring

# data for a closed output, and from a closed input
lost='*standard output*closed*'
closed_out() { expect 5 "$lost" sh -c '"$0" "$@" >&-' "$TAPER" "$@"; }
closed_out encode -m model.tpm -o - grey.pgm
closed_out truncate -b 2K -o - set.taper
closed_out decode -m model.tpm -i 1 -o - set.taper
closed_out embed -m bits.tpm -o - grey.pgm
closed_out index -m bits.tpm -o - grey.pgm
closed_out search -i 1 set.tpx
closed_out info set.taper
closed_out --help
expect 5 '*/dev/stdout*' sh -c '"$0" "$@" >&-' "$TAPER" truncate -b 2K -o /dev/stdout set.taper
expect 5 '*standard input*' sh -c '"$0" "$@" <&-' "$TAPER" decode -m model.tpm -o pictures -
nothing_left
