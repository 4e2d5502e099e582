# A GPU that is lost in the middle of a run, of every learner: one sentence with the remedy, no model, and the last
# checkpoint goes on to the bytes of a run that lost nothing. GPUs that cannot be had are one sentence, too.
model=$(dirname "$TAPER")/tests/taper_model # kernels on the execution model, which fails where it is told
export TAPER_MODEL_ORDERS=1
"$SAMPLES" small set --count 8 --format png
run() { # model, checkpoint, verb, options...
    output=$1 checkpoint=$2 verb=$3
    shift 3
    rm -f launches
    TAPER_MODEL_LAUNCHES=launches "$model" "$verb" -q -f --device cuda -o "$output" --checkpoint "$checkpoint" \
        --seed 3 "$@" set/png
}
lose() { # verb, options...
    rm -f whole.tpm part.tpm whole.check* part.check*
    run whole.tpm whole.check "$@"
    all=$(cat launches) code=0
    (export TAPER_MODEL_FAIL=launch:$((all * 4 / 5)) && run part.tpm part.check "$@" 2>err) || code=$?
    test "$code" -eq 5 || { cat err; echo "$*: exit code $code"; exit 1; }
    test ! -e part.tpm
    test "$(grep -c '^taper ' err)" -eq 1 # the address sanitizer has a line of its own
    grep -q "^taper $verb: part.tpm: cuda:0: [a-z_]*: unspecified launch failure; run again with --resume" err ||
        { cat err; exit 1; }
    run part.tpm part.check "$@" --resume
    cmp whole.tpm part.tpm || { echo "$*: another model"; exit 1; }
}
saved() { # options...: as lose, of learners whose last epoch, or some step, is saved
    lose "$@"
    test "$(cat launches)" -lt "$all" || { echo "$*: began anew"; exit 1; }
}
bits() { saved train-bits --epochs 2 --batch 60 -w 8 --units 6 "$@"; }

saved train --family dense --epochs 2 --batch 60 -w 8 --units 6 --hidden 8
bits --hidden 8 --code units
bits --code units --optimiser cg --batch 120
bits --untied
saved train --window 8 --units 12 --conditional 8 --head 8 --predict-epochs 2
lose train --window 8 --units 12 --family conv --restore 8 --restore-steps 1

# without a checkpoint the remedy is another
fail() { # how, words
    code=0
    TAPER_MODEL_FAIL=$1 "$model" train -q -f --device cuda -o x.tpm --family dense --epochs 1 -w 8 --units 4 set/png \
        2>err || code=$?
    test ! -e x.tpm
    test "$(grep -c '^taper ' err)" -eq 1 # the address sanitizer has a line of its own
    grep -q "^taper train: $2" err || { cat err; echo "$1: other words"; exit 1; }
}
fail launch:40 'x.tpm: cuda:0: [a-z_]*: unspecified launch failure; run again, with --checkpoint'
test $code -eq 5
fail busy 'cuda: cuda:0: all CUDA-capable devices are busy or unavailable'
test $code -eq 5
fail allocation:1 'cuda: cuda:0: out of memory'
test $code -eq 6
fail allocation:8 'x.tpm: .*out of memory; take fewer images, or a smaller batch'
test $code -eq 6
export TAPER_MODEL_LT=missing
fail none "x.tpm: cuda:0: [a-z_]*: libcublasLt.so.13 cannot be loaded; install CUDA's libcublas, or give --device cpu"
test $code -eq 5
