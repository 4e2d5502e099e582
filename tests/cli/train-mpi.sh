# mpirun -n N taper train: N processes train the model of one, or nearly; they go on where others were killed, stop at
# a signal together, and refuse what does not fit.
. "$ROOT/tests/cli_helpers.sh"
needs mpirun:openmpi-bin
[ -e "$(dirname "$TAPER")/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
"$SAMPLES" small set --count 61 --format png
"$SAMPLES" letters letters --count 60 --format png
"$SAMPLES" scenes scenes --count 2
# OpenMPI refuses root, and more processes than processors, unless it is told
fail() { echo "$*" && exit 1; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
exec=
n_of() { # processes, words
    n=$1
    shift
    if [ "$n" = 1 ]; then $exec "$TAPER" "$@"; else $exec mpirun --bind-to none -n "$n" "$TAPER" "$@"; fi
}

# Components and calibration: the same file for every N, with windows that overlap and with those that are the image. The
# third process has none of the scenes.
pca() { # most processes, options...
    most=$1
    shift
    for n in $(seq "$most"); do
        n_of $n train -q -f --quick --fast -T1 -o pca$n.tpm "$@"
        cmp pca1.tpm pca$n.tpm
    done
}
pca 2 --window whole -k 20 letters/png
pca 3 --window 8 -k 40 --loss ms-ssim scenes
pca 3 --window 8 set/png

# Networks: the losses of a step differ by rounding alone; twice the same N gives the same bits.
dense() { # processes, name
    n_of "$1" train -q -f --quick -T1 --family dense --window whole --units 8 --hidden 64 --epochs 20 --batch 32 \
        --quality 12,22 --jitter 0.5 --checkpoint $2.run --log $2.log -o $2.tpm letters/png
}
conv() {
    n_of "$1" train -q -f --quick -T1 --family conv --window 8 --units 16 --conditional 8 --head 8 --predict-epochs 10 \
        --restore 8 --restore-steps 16 --checkpoint $2.run --log $2.log -o $2.tpm scenes
}
cat >near.py <<'P'
import json, sys

def numbers(name):
    for line in open(name):
        entry = json.loads(line)
        yield [(k, v) for k, v in sorted(entry.items()) if isinstance(v, float) and not k.startswith("seconds")]

a, b = list(numbers(sys.argv[1])), list(numbers(sys.argv[2]))
assert len(a) == len(b) and a, "different numbers of entries: %d, %d" % (len(a), len(b))
for x, y in zip(a, b):
    for (k, v), (other, w) in zip(x, y):
        assert k == other and abs(v - w) <= 1e-3 * max(abs(v), abs(w)), "%s: %r is not near %r" % (k, v, w)
P
for family in dense conv; do
    for n in 1 2 3; do
        $family $n $family$n
        python3 near.py ${family}1.log $family$n.log
        "$TAPER" info $family$n.tpm | grep -q "family  *$family" || fail "$n: the network of $family was left out"
    done
done
dense 2 again
for file in dense2.run* dense2.tpm; do cmp "$file" "again${file#dense2}"; done

# An epoch of many steps, whose processes are started four times: one hangs, one is killed, one gets SIGTERM, and at last
# one gets SIGUSR1. The model is that of a run without a break.
long() { # processes, name, options...
    n=$1 name=$2
    shift 2
    n_of "$n" train -q -f -T1 --quick --fast --family dense --window 8 --units 12 --hidden 512,256 --batch 2 --epochs 1 \
        --log $name.log -o $name.tpm "$@" set/png
}
begin_long() { # name, options...: until the second process listens
    { exec=exec; long 2 "$@" 2>said; } &
    running=$!
    for _ in $(seq 500); do
        second=$(pgrep -P $running -x taper | sed -n 2p)
        [ -z "$second" ] || break
        sleep 0.02
    done
    await_listening "$second"
}
ends() { # code; that of mpirun
    code=0
    wait $running || code=$?
    test $code -eq "$1" || { cat said; fail "exit code $code instead of $1"; }
}
refused() { # pattern of what was said; there is no model
    grep -q "$1" said || { cat said; fail "no '$1'"; }
    [ ! -e part.tpm ]
}
long 2 whole
TAPER_MPI_TIMEOUT=3 begin_long part --checkpoint run
save_now "$second" run 0
kill -STOP "$second"
ends 5
refused "did not answer "
begin_long part --checkpoint run --resume
save_now "$second" run "$(checkpoint_step run)"
kill -KILL "$second"
ends 137
refused "signal 9"
begin_long part --checkpoint run --resume
save_now "$second" run "$(checkpoint_step run)"
kill -TERM "$second"
ends 143
refused "stopped by a signal after step $(checkpoint_step run) of "
cp run other
long 1 rest --checkpoint other --resume
python3 near.py whole.log rest.log
begin_long part --checkpoint run --resume
save_now "$second" run "$(checkpoint_step run)"
ends 0
test "$saved" -lt "$(checkpoint_step run)" || fail "step $saved is the last"
cmp whole.tpm part.tpm
rm part.tpm

# What does not fit is refused, with a code that is not 0.
cat >each.sh <<'P'
cd "$OMPI_COMM_WORLD_RANK"
exec "$TAPER" "$@" $(cat more)
P
export TAPER
differ() { # pattern, options...
    like=$1
    shift
    mpirun -n 2 sh each.sh train -q -f --quick -o ../part.tpm "$@" >said 2>&1 && fail "no '$like'"
    refused "$like"
}
mkdir 0 1
cp -r set/png 0/set
cp pca1.tpm 0/model.tpm
: >0/more
cp -r 0/* 1
echo "--seed 2" >1/more
differ "process 1 was given other options or inputs than process 0" --fast --window 8 set
: >1/more
"$TAPER" train -q --quick --fast --window 8 -o other.tpm letters/png
cp other.tpm 1/model.tpm
differ "process 1 was given another model than process 0" --from model.tpm set
first=$(find 1/set -name '*.png' | sort | head -n 1)
mv "$first" "$first.png"
differ "process 1 found 61 images, and process 0 61 of other names or labels" --fast --window 8 set
rm "$first.png"
differ "process 1 found 60 images, and process 0 61" --fast --window 8 set
mpirun -n 2 "$TAPER" train-labels -q -f -o part.tpm set/png >said 2>&1 && fail "train-labels"
refused "trains in one process"

# More processes than images: some have none.
mkdir few
cp "0${first#1}" few
n_of 3 train -q -f --quick --fast --window 8 -o few.tpm few
"$TAPER" train -q -f --quick --fast --window 8 -o few1.tpm few
cmp few.tpm few1.tpm
