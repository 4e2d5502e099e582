# Every learner on the GPU's kernels, run by the execution model: what it measures on its way is what the
# processor measures, but for the order of sums.
model=${KERNELS:-$(dirname "$TAPER")/tests/taper_model} # KERNELS: a program with a GPU (tests/gpu.sh)
export TAPER_MODEL_ORDERS=1 # the other orders are tried operation by operation
"$SAMPLES" small set --count 24 --format png
precision=float32 apart=1e-3 # how far figures may be
learn() { # options...
    rm -f cpu.jsonl cuda.jsonl
    "$TAPER" train -q -f --device cpu -o cpu.tpm --log cpu.jsonl "$@" set/png
    "$model" train -q -f --device cuda --precision $precision -o cuda.tpm --log cuda.jsonl "$@" set/png 2>err ||
        { cat err; echo "train $*: failed"; exit 1; }
    python3 - cpu.jsonl cuda.jsonl $apart <<'END' || { echo "train $*: other figures"; exit 1; }
import json, sys
runs = [[json.loads(line) for line in open(path)] for path in sys.argv[1:3]]
assert runs[0] and len(runs[0]) == len(runs[1]), "other steps"
for here, there in zip(*runs):
    for key in here:
        if "second" in key or not isinstance(here[key], (int, float)):
            continue
        near = abs(here[key] - there[key]) <= float(sys.argv[3]) * (1e-6 + abs(here[key]))
        assert near, f"{key}: {here[key]} on the processor, {there[key]}"
END
}
dense() { learn --family dense --epochs 2 --batch 16 "$@"; }

dense -w whole --units 12 --hidden 16 --jitter 0.5 --truncated 0.5
dense -w whole --units 12 --hidden 16 --code units --sweep --regularise adaptive-l1:0.1 \
    --truncation geometric:0.8 --dropout 0.2 --corrupt 0.1
dense -w whole --units 12 --hidden 16 --code units --untied --unit logistic --activation logistic \
    --invariance 0.1
dense -w 16 --units 24 --code binary --untied
dense -w 16 --units 24 --hidden 16 --code binary --independent --gradient stop --regularise l2:1e-5
# one step: what a line search finds parts runs that differ in the last place, step by step
learn --family dense --epochs 1 --batch 96 -w 16 --units 12 --code units --optimiser cg --regularise l2:1e-5
learn --window 8 --conditional 8 --head 8 --predict-epochs 1
learn --window 8 --family conv --restore 8 --restore-steps 3

precision=bf16 apart=3e-2 # steps are short, so that little is learnt of the rounding
dense -w whole --units 12 --hidden 16 --truncated 0.5
dense -w whole --units 12 --hidden 16 --code units --sweep --dropout 0.2 --corrupt 0.1 --unit logistic
dense -w whole --units 12 --code units --untied --orthonormal
dense -w 16 --units 24 --code binary --untied
learn --window 8 --conditional 8 --head 8 --predict-epochs 1
learn --window 8 --family conv --restore 8 --restore-steps 3
