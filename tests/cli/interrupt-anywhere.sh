# SIGINT before and after every step in the life of a temporary file: nothing is left, of a checkpoint,
# an output, pictures from several threads, or what waits in TMPDIR.
. "$ROOT/tests/cli_helpers.sh"
env --default-signal=INT true 2>/dev/null || { echo "SKIP env cannot restore the default of a signal"; exit 0; }
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || { echo "SKIP no compiler here"; exit 0; }
$cc -std=c11 -shared -fPIC -O1 -o raise_signal.so "$ROOT/tests/cli/raise_signal.c"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
small_set 60
mkdir waiting some
cp set/png/arrow/000[1-4].png some
TMPDIR=$PWD/waiting
export TMPDIR
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

anywhere() { # step width, command...: what the command makes is in out*
    width=$1
    shift
    rm -rf out*
    LD_PRELOAD=./raise_signal.so RAISE_COUNT=count "$@" || { echo "it failed: $*"; exit 1; }
    steps=$(cat count)
    [ "$steps" -ge 12 ] || { echo "$steps steps only: $*"; exit 1; }
    for at in $(seq 1 "$width" "$steps"); do
        rm -rf out*
        code=0
        LD_PRELOAD=./raise_signal.so RAISE_AT=$at env --default-signal=INT "$@" 2>/dev/null || code=$?
        [ "$code" -eq 130 ] || { echo "exit code $code at step $at: $*"; exit 1; }
        left=$(find . -name '.taper-*'; ls -A waiting)
        [ -z "$left" ] || { echo "left behind at step $at of $steps: $left ($*)"; exit 1; }
    done
}
anywhere 1 "$TAPER" train -q --family dense --hidden 8 --units 4 --window 8 --epochs 1 \
    --checkpoint out.check -o out.tpm some
anywhere 1 "$TAPER" encode -q -T 1 -m model.tpm -o out.taper some
"$TAPER" encode -q -m model.tpm -o set.taper set/png
anywhere 29 "$TAPER" decode -q -T 3 -m model.tpm -o out set.taper
# shellcheck disable=SC2016  # "$0" is the inner shell's
anywhere 1 sh -c 'exec "$0" truncate -q -b 20K -o out.taper - <set.taper' "$TAPER"
