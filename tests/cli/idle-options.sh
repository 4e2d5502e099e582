# An option that does nothing in this run is named, in one line, and is no failure.
. "$ROOT/tests/cli_helpers.sh"
small_set 16
learn="$TAPER train -q -f -w 8 -k 8 -o x.tpm"

# each option of training against a run that has no use for it
idle_in() { # verb and options; lines of options with commas for spaces, and words, on standard input
    run="$TAPER $1 -q -f -k 8 -o x.tpm" idle="taper ${1%% *}: warning: without effect here: "
    while read -r option wanted; do
        # shellcheck disable=SC2086
        expect 0 "$idle$wanted" $run $(echo "$option" | tr ",=" " ,") set/png
        test "$(grep -c 'without effect' expect.err)" -eq 1
    done
}
idle_in 'train -w 8' <<'T'
--hidden,12 --hidden (for --family dense)
--epochs,3 --epochs (for --family dense)
--batch,3 --batch (for --family dense)
--rate,.1 --rate (for --family dense)
--truncation,uniform --truncation (for --family dense)
--patience,3 --patience (for --family dense)
--lambda,3 --lambda (for --family dense)
--jitter,.5 --jitter (for --family dense)
--truncated,.5 --truncated (for --family dense)
--rho,.5 --rho (for --family dense with --truncated)
--quality,20=30 --quality (for --family dense or --conditional or --head)
--set-images,9 --set-images (for --window auto)
--precision,tf32 --precision (for a GPU)
--predict-epochs,3 --predict-epochs (for --conditional or --head)
--fast,--conditional,8 --conditional (for a run without --fast)
--restore,16 --restore (for --family conv)
--restore-steps,16 --restore-steps (for --family conv)
--checkpoint,c --checkpoint (for --family dense or --conditional or --head or --family conv)
--log,l --log (for --family dense or --conditional or --head or --family conv)
--hidden,12,--rho,.1 --hidden (for --family dense), --rho (for --family dense with --truncated)
T
idle_in 'train-bits -w 8 -e 1' <<'T'
--set-images,9 --set-images (for --window auto)
--dropout,.1 --dropout (for --hidden)
--activation,linear --activation (for --hidden)
--unit,relu --unit (for --code units)
--orthonormal --orthonormal (for --code units --unit linear without --hidden)
--class-weight,2 --class-weight (for --class-units)
--nested,4 --nested (for --class-units)
--code,units,--beta,.1 --beta (for --code binary)
--code,units,--independent --independent (for --code binary)
--code,units,--centre,.1 --centre (for --code binary)
--code,units,--gradient,stop --gradient (for --code binary)
--code,units,--optimiser,cg,--rate,.1 --rate (for --optimiser adam)
T
idle_in 'train-labels --objective nca -e 1' <<'T'
--minutes,1 --minutes (for --objective auto)
--degrees,2 --degrees (for --objective dt-nca, dt-mcml or dt-log-nca)
--dropout,.1 --dropout (for --hidden)
--mirror --mirror (for another --objective than auto with --motion)
--pretrain-epochs,1 --pretrain-epochs (for --start rbm or denoising with --hidden)
--teacher-epochs,1 --teacher-epochs (for --guess-labels or --start taught)
--optimiser,cg,--rate,.1 --rate (for another --objective than auto with --optimiser adam)
T
idle='taper train: warning: without effect here: '
conv="$learn --family conv --restore 8 --restore-steps 1"
expect 0 "$idle--hidden (for --family dense)" $conv --hidden 12 set/png
dense="$learn --family dense --epochs 1 --batch 32"
expect 0 "$idle--lap (for --family pca or conv)" $dense --hidden 8 --lap 2 set/png

# what is used is not named, and neither is what a preset stands for
expect 0 '*' $learn --preset fast --seed 3 --units 9 --basis principal --weight-error 1 --lap 1 set/png
test ! -s expect.err
expect 0 '*' $dense --hidden 8 --patience 3 --lambda 1 --quality 20,30 --log l --checkpoint c set/png
test ! -s expect.err
expect 0 '*' $learn --preset best --family pca --predict-epochs 1 --checkpoint d set/png
test ! -s expect.err

# --from keeps the model's shape: a preset has nothing to say, an option that was given is refused
from="$TAPER train -q -f -o x.tpm --from model.tpm"
expect 0 "$idle--preset (for a model that is not made --from another)" $from --preset fast set/png
expect 0 "$idle--preset (*), --epochs (for --family dense)" $from --preset best --epochs 3 set/png
expect 2 'taper train: --from keeps *: omit --family*' $from --family pca set/png

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

# what goes with another option
without='warning: without effect here'
expect 0 "taper encode: $without: --null (for --filelist)" $encode --null set/png
expect 0 "$idle--null (for --filelist)" $learn --null set/png
expect 0 "taper compare: $without: --null (for --filelist)" "$TAPER" compare -q -r none -m model.tpm --null set/png
expect 0 "taper classify: $without: --null (for --filelist)" "$TAPER" classify -q -a set/png --null set/png
"$TAPER" train -q -f -w whole -k 8 -o whole.tpm set/png
embed="$TAPER embed -q -f -m whole.tpm"
expect 0 "taper embed: $without: --null (for --filelist)" $embed -o c.npy --null set/png
find set/png -name '*.png' -print0 >names
expect 0 '*' $embed -o c.npy --null --filelist names
test ! -s expect.err
expect 0 "taper embed: $without: --format (for --output)" $embed --format csv --map m.html set/png
find set/png -name '*.png' | sed 's/$/,x/' >labels.csv
labels="$without: --labels (for CSV, --map, --labels-out or --json)"
expect 0 "taper embed: $labels" $embed -o c.npy --labels labels.csv set/png
for use in '-o c.csv' '-o c.npy --labels-out l.csv' '--map m.html' '-o c.npy --json'; do
    expect 0 '*' $embed $use --labels labels.csv set/png
    test ! -s expect.err
done
expect 0 "taper decode: $without: --class-folders (for images, not --levels), --strict (for images, not --levels)" \
    "$TAPER" decode -m model.tpm --levels --class-folders --strict set.taper

# indexes
"$TAPER" train-bits -q -f -w whole --independent -k 32 -e 1 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o a.tpx set/png
"$TAPER" index -q -m bits.tpm -o b.tpx set/png/bolt
expect 0 "taper index: $without: --null (for --filelist)" "$TAPER" index -q -m bits.tpm -o c.tpx --null set/png/bolt
expect 0 "taper index: $without: --model (for images, not indexes alone)" "$TAPER" index -q -m bits.tpm -o ab.tpx a.tpx b.tpx
search="$TAPER search -q"
expect 0 "taper search: $without: --recall (for nearest neighbours without --exact)" $search --recall .5 --exact -i 3 a.tpx
expect 0 "taper search: $without: --margins (for nearest neighbours of queries that are files)" $search --margins -i 3 a.tpx
expect 0 "taper search: $without: --images (for --duplicates or --html)" $search --images set/png -i 3 a.tpx
expect 0 '*' $search -m bits.tpm --margins --recall .5 --html p.html --images set/png a.tpx set/png/bolt/0001.png
test ! -s expect.err
