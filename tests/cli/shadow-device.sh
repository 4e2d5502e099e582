# Every learner on the shadow device, whose memory the host cannot touch: the same models, byte for byte, as on
# the processor. What a learner did to a device's memory by itself would end it here.
"$SAMPLES" small set --count 60 --format png
learn() { # verb, options...
    verb=$1
    shift
    for device in cpu shadow; do
        "$TAPER" "$verb" -q -f --device $device -o $device.tpm "$@" set/png
    done
    cmp cpu.tpm shadow.tpm || { echo "$verb $*: models differ"; exit 1; }
}
dense() { learn train --family dense --epochs 2 --batch 16 "$@"; }
bits() { learn train-bits --epochs 2 --batch 16 "$@"; }

learn train --window 8
dense -w whole --units 12 --hidden 16 --jitter 0.5 --truncated 0.5
dense -w 16 --units 12 --hidden 16,8 --truncation ladder:4,16
bits -w whole --units 12 --hidden 16 --code units --sweep --regularise adaptive-l1:0.1 \
    --truncation geometric:0.8 --dropout 0.2 --corrupt 0.1
bits -w whole --units 12 --hidden 16 --code units --untied --unit logistic --activation logistic \
    --invariance 0.1
bits -w 16 --units 24 --sweep
bits -w 16 --units 24 --untied
bits -w 16 --units 24 --hidden 16 --independent --gradient stop --regularise l2:1e-5
bits -w 16 --units 12 --code units --optimiser cg --regularise l2:1e-5 --sweep
learn train --window 8 --conditional 8 --head 8 --predict-epochs 1
learn train --window 8 --family conv --restore 8 --restore-steps 3
