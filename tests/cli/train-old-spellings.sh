# `taper train --objective`, `--preset labels`, `--code binary` and `--preset paper` are the verbs that they have become, with
# one sentence, and make the same models; an option of another verb is told by its name.
. "$ROOT/tests/cli_helpers.sh"
bars bars 20
same() { # verb, what the sentence names, old options -- new options
    verb=$1 named=$2 old=
    shift 2
    while [ "$1" != -- ]; do
        old="$old $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    "$TAPER" train $old -o old.tpm bars 2>old.err
    "$TAPER" "$verb" "$@" -o new.tpm bars 2>new.err
    cmp old.tpm new.tpm
    head -n 1 old.err | grep -qxF -e "taper train: warning: \`taper train $named\` is now \`taper $verb\`; the old spelling works until 2.0"
    sed 1d old.err | sed 's/old\.tpm/new.tpm/' | cmp - new.err
    rm old.tpm new.tpm
}
same train-labels --objective --objective nca -k 4 -e 2 -- --objective nca -k 4 -e 2
same train-labels --objective --objective=nca --code binary -k 8 -e 2 -- --objective nca --code binary -k 8 -e 2
same train-labels '--preset labels' --objective nca -e 1 --preset labels -- --objective nca -e 1
same train-bits --code --family dense --code binary -w whole -k 8 -e 2 -- -w whole -k 8 -e 2
same train-bits --code -w whole --code=units --family=dense -k 8 -e 2 -- -w whole --code units -k 8 -e 2
same train-bits '--preset paper' --preset paper -w whole -k 8 -e 2 -- --preset paper -w whole -k 8 -e 2

# what means the rest of `taper train` says nothing
"$TAPER" train -q --objective none --code planes -w 8 -k 4 -o old.tpm bars 2>old.err
test ! -s old.err
"$TAPER" train -q -w 8 -k 4 -o new.tpm bars
cmp old.tpm new.tpm

# words behind `--` are files
expect 5 '*--code: cannot open*' "$TAPER" train -o no.tpm -- --code binary
not grep -q 'is now' expect.err
expect 2 "taper train: unknown option '--sweep'; \`taper train-bits\` has it (see: taper train --help)" "$TAPER" train --sweep bars
