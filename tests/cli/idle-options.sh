# An option that does nothing in this run is named, in one line, and is no failure.
. "$ROOT/tests/cli_helpers.sh"
small_set 16
idle='taper train: warning: without effect here: '
learn="$TAPER train -q -f -w 8 -k 8 -o x.tpm"

# each of train's options against a run that has no use for it
while read -r option wanted; do
    case $option in '#'*|'') continue ;; esac
    # shellcheck disable=SC2086
    expect 0 "$idle$wanted" $learn $(echo "$option" | tr ",=" " ,") set/png
    test "$(wc -l <expect.err)" -eq 1
done <<'T'
--hidden,12 --hidden (for --family dense or --objective)
--epochs,3 --epochs (for --family dense or --objective)
--batch,3 --batch (for --family dense or --objective)
--rate,.1 --rate (for --family dense*)
--truncation,uniform --truncation (for --family dense)
--code,planes --code (for --family dense or --objective or --preset labels)
--patience,3 --patience (for --family dense with --code planes)
--lambda,3 --lambda (for --family dense with --code planes)
--jitter,.5 --jitter (for --family dense with --code planes)
--truncated,.5 --truncated (for --family dense with --code planes)
--rho,.5 --rho (for --truncated above 0)
--quality,20=30 --quality (for --family dense with --code planes or --conditional or --head)
--sweep --sweep (for --code units or binary)
--orthonormal --orthonormal (for --code units --unit linear without --hidden)
--regularise,l1:1 --regularise (for --code units or binary)
--corrupt,.1 --corrupt (for --code units or binary or --objective)
--dropout,.1 --dropout (for --code units or binary with --hidden or --objective with --hidden)
--activation,linear --activation (for --code units or binary with --hidden)
--invariance,.1 --invariance (for --code units or binary)
--untied --untied (for --code units or binary)
--unit,relu --unit (for --code units)
--beta,.1 --beta (for --code binary)
--independent --independent (for --code binary)
--centre,.1 --centre (for --code binary)
--gradient,stop --gradient (for --code binary)
--set-images,9 --set-images (for --window auto)
--precision,tf32 --precision (for a GPU)
--predict-epochs,3 --predict-epochs (for --conditional or --head)
--fast,--conditional,8 --conditional (for a run without --fast)
--restore,16 --restore (for --family conv)
--restore-steps,16 --restore-steps (for --family conv)
--checkpoint,c --checkpoint (for --family dense or --conditional or --head or --family conv or --objective)
--log,l --log (for --family dense or --conditional or --head or --family conv or --objective)
--hidden,12,--beta,.1 --hidden (for --family dense or --objective), --beta (for --code binary)
T
conv="$learn --family conv --restore 8 --restore-steps 1"
expect 0 "$idle--hidden (for --family dense or --objective)" $conv --hidden 12 set/png
dense="$learn --family dense --epochs 1 --batch 32"
expect 0 "$idle--lap (for --family pca or conv)" $dense --hidden 8 --lap 2 set/png
expect 0 "$idle--patience (for --family dense with --code planes)" $dense --code binary --patience 3 set/png
expect 0 "$idle--rate (for --family dense with --optimiser adam)" \
    $dense --code units --optimiser cg --rate .1 set/png
expect 0 "$idle--basis (for codes of planes)" $dense --code units --basis sparse set/png

# what is used is not named, and neither is what a preset stands for
expect 0 '*' $learn --preset fast --seed 3 --units 9 --basis principal --weight-error 1 --lap 1 set/png
test ! -s expect.err
expect 0 '*' $dense --hidden 8 --patience 3 --lambda 1 --quality 20,30 --log l --checkpoint c set/png
test ! -s expect.err
expect 0 '*' $learn --preset best --family pca --predict-epochs 1 --checkpoint d set/png
test ! -s expect.err

# --from keeps the model's shape: a preset has nothing to say, an option that was given is refused
from="$TAPER train -q -f -o x.tpm --from model.tpm"
expect 0 "$idle--preset (for a model that is not made --from another or --preset labels)" $from --preset fast set/png
expect 0 "$idle--preset (*), --epochs (for --family dense or --objective)" $from --preset best --epochs 3 set/png
expect 2 'taper train: --from keeps *: leave --family out*' $from --family pca set/png

# devices
expect 2 "taper train: --device is auto, cpu, shadow, cuda or cuda:N, not 'gpu'*" $learn --device gpu set/png
expect 2 "taper train: --device is auto, cpu, shadow, cuda or cuda:N, not 'cuda:'*" $learn --device cuda: set/png
expect 2 "taper train: --device is auto, cpu, shadow, cuda or cuda:N, not 'cudax'*" $learn --device cudax set/png
expect 0 '*' $learn --device cpu set/png
test ! -s expect.err

# other verbs
encode="$TAPER encode -q -f -m model.tpm -o set.taper"
expect 0 'taper encode: warning: without effect here: --group (for --layout set)' \
    $encode --layout image --group 3 set/png
expect 0 '*' $encode --layout set --group 3 set/png
test ! -s expect.err
expect 0 'taper repack: warning: without effect here: --group (for --layout set)' \
    "$TAPER" repack -q -m model.tpm --layout image --group 3 -o each.taper set.taper
expect 0 'taper compare: warning: without effect here: --examples (for a report: --output DIR)' \
    "$TAPER" compare -q -r none --examples 3 -m model.tpm set/png
