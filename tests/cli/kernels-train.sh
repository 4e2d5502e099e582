# Every learner on the GPU's kernels, run by the execution model: what it measures on its way is what the
# processor measures, but for the order of sums. In bfloat16: kernels-train-bf16.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 8 --format png
learn() { learn_on_both float32 1e-3 "$@"; }
dense() { learn train --family dense --epochs 2 --batch 16 "$@"; }
bits() { learn train-bits --epochs 2 --batch 16 "$@"; }

dense -w whole --units 12 --hidden 16 --jitter 0.5 --truncated 0.5
bits -w whole --units 12 --hidden 16 --code units --sweep --regularise adaptive-l1:0.1 \
    --truncation geometric:0.8 --dropout 0.2 --corrupt 0.1
bits -w whole --units 12 --hidden 16 --code units --untied --unit logistic --activation logistic \
    --invariance 0.1
bits -w 16 --units 24 --untied
bits -w 16 --units 24 --hidden 16 --independent --gradient stop --regularise l2:1e-5
# one step: what a line search finds parts runs that differ in the last place, step by step
learn train-bits --epochs 1 --batch 96 -w 16 --units 12 --code units --optimiser cg --regularise l2:1e-5
learn train --window 8 --conditional 8 --head 8 --predict-epochs 1
learn train --window 8 --family conv --restore 8 --restore-steps 3
