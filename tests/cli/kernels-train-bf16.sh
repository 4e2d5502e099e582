# As kernels-train, with products of bfloat16. Steps are short, so that little is learnt of the rounding.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 8 --format png
learn() { learn_on_both bf16 3e-2 "$@"; }
dense() { learn train --family dense --epochs 2 --batch 16 "$@"; }
bits() { learn train-bits --epochs 2 --batch 16 "$@"; }

dense -w whole --units 12 --hidden 16 --truncated 0.5
bits -w whole --units 12 --hidden 16 --code units --sweep --dropout 0.2 --corrupt 0.1 --unit logistic
bits -w whole --units 12 --code units --untied --orthonormal
bits -w 16 --units 24 --untied
learn train --window 8 --conditional 8 --head 8 --predict-epochs 1
learn train --window 8 --family conv --restore 8 --restore-steps 3
