# mpirun -n N taper train: N processes train the model of one, or nearly; they go on where others were killed, stop at
# a signal together, and refuse what does not fit.
. "$ROOT/tests/cli_helpers.sh"
needs mpirun:openmpi-bin
[ -e "$(dirname "$TAPER")/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
"$SAMPLES" small set --count 200 --format png
"$SAMPLES" scenes scenes --count 8
# OpenMPI refuses root, and more processes than processors, unless it is told
fail() { echo "$*" && exit 1; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
n_of() { # processes, words
    n=$1
    shift
    if [ "$n" = 1 ]; then "$TAPER" "$@"; else mpirun -n "$n" "$TAPER" "$@"; fi
}

# Components and calibration: the same file for every N, with windows that overlap and with those that are the image.
for of in "--window 8 set/png" "--window whole -k 20 set/png" "--window 16 --loss ms-ssim scenes"; do
    for n in 1 2 3; do
        # shellcheck disable=SC2086
        n_of $n train -q -f --quick --fast -o pca$n.tpm $of
    done
    cmp pca1.tpm pca2.tpm
    cmp pca1.tpm pca3.tpm
done

# Networks: the losses of a step differ by rounding alone; twice the same N gives the same bits.
dense() { # processes, name, options...
    n=$1 name=$2
    shift 2
    n_of "$n" train -q -f --quick --family dense --window whole --units 12 --hidden 16 --epochs 20 --batch 64 \
        --jitter 0.5 --checkpoint $name.run --log $name.log -o $name.tpm "$@" set/png
}
conv() {
    n=$1 name=$2
    shift 2
    n_of "$n" train -q -f --quick --family conv --window 8 --units 40 --conditional 8 --head 8 --predict-epochs 2 \
        --restore 8 --restore-steps 100 --checkpoint $name.run --log $name.log -o $name.tpm "$@" scenes
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
    $family 1 one
    $family 2 two
    $family 2 again
    $family 3 three
    cmp two.tpm again.tpm
    for name in two three; do python3 near.py one.log $name.log; done
    rm -f one.run* two.run* again.run* three.run*
done

# A process that is killed ends all; others, of another number, go on from the checkpoint.
dense 2 whole
dense 2 part >out 2>&1 &
running=$!
while [ ! -e part.run ] && kill -0 $running 2>/dev/null; do sleep 0.05; done
victim=$(pgrep -f "taper train.*part.tpm" | tail -1)
kill -KILL "$victim"
wait $running && fail "mpirun succeeded although a process was killed"
[ ! -e part.tpm ]
dense 2 part --resume
cmp whole.tpm part.tpm

# SIGTERM: all stop in one step, with a checkpoint.
rm -f part.run part.tpm
dense 2 part --epochs 2000 >out 2>&1 &
running=$!
while [ ! -e part.run ] && kill -0 $running 2>/dev/null; do sleep 0.05; done
pkill -TERM -f "taper train.*part.tpm" || true
wait $running && fail "mpirun succeeded although it was ended"
grep -q "stopped by a signal after step" out
[ ! -e part.tpm ]

# What does not fit is refused, with a code that is not 0.
refused() { # pattern; the command's output is in out
    grep -q "$1" out || { cat out && fail "no '$1'"; }
}
cat >differ.sh <<'P'
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || set -- "$@" --seed 2
exec "$TAPER" "$@"
P
export TAPER
mpirun -n 2 sh differ.sh train -q -f --quick --fast --window 8 -o x.tpm set/png >out 2>&1 && fail "different options"
refused "process 1 was given other options or inputs than process 0"
cat >hang.sh <<'P'
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || { "$TAPER" "$@" & sleep 0.3; kill -STOP $!; sleep 8; kill -KILL $!; exit 1; }
exec "$TAPER" "$@"
P
TAPER_MPI_TIMEOUT=2 mpirun -n 2 sh hang.sh train -q -f --quick --family dense --epochs 500 --window 8 -o x.tpm set/png \
    >out 2>&1 && fail "a process hangs"
refused "did not answer within 2 s"
mpirun -n 2 "$TAPER" train-labels -q -f -o x.tpm set/png >out 2>&1 && fail "train-labels"
refused "recipes are tried in one process"
[ ! -e x.tpm ]

# More processes than images: some have none.
mkdir few
cp "$(ls set/png/*/*.png | head -1)" few
n_of 3 train -q -f --quick --fast --window 8 -o few.tpm few
"$TAPER" train -q -f --quick --fast --window 8 -o few1.tpm few
cmp few.tpm few1.tpm
