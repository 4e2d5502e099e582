# Trained for MS-SSIM, a cut of the same size keeps more of it.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes set --count 6 2>/dev/null
for loss in mse ms-ssim; do
    "$TAPER" train -q --fast --window 8 --units 64 --loss $loss -o $loss.tpm set
    "$TAPER" compare -q --json -m $loss.tpm --bpp 0.4 -r jpeg set >$loss.json
    grep -o '"taper","accounting":"file","points":\[{[^}]*' $loss.json |
        sed 's/.*"ms_ssim":\([0-9.]*\).*/\1/' >$loss.quality
done
paste mse.quality ms-ssim.quality >both
awk 'NF != 2 || $2 < $1 + 0.004 { print; bad = 1 } END { exit bad || !NR }' both

expect 2 '*--from*omit --loss*' "$TAPER" train --from mse.tpm --loss ms-ssim -o x.tpm set
expect 2 '*--loss ms-ssim needs --family pca*' "$TAPER" train --family dense --loss ms-ssim -o x.tpm set
expect 2 '*--loss*mse*ms-ssim*' "$TAPER" train --loss ssim -o x.tpm set
