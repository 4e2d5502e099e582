# mpirun -n N taper train-labels: N processes take the steps of one, which differ by rounding alone; they go on from
# checkpoints of another number, and stop at a signal together.
. "$ROOT/tests/cli_helpers.sh"
needs mpirun:openmpi-bin
[ -e "$(dirname "$TAPER")/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
"$SAMPLES" small set --count 300 --format png
fail() { echo "$*" && exit 1; }
# OpenMPI refuses root, and more processes than processors, unless it is told
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
labels() { # processes, name, options...
    n=$1 name=$2
    shift 2
    set -- train-labels -q -f -k 8 -T 1 --batch 70 --checkpoint "$name.run" --log "$name.log" -o "$name.tpm" "$@" set/png
    if [ "$n" = 1 ]; then "$TAPER" "$@"; else mpirun -n "$n" "$TAPER" "$@"; fi
}
cat >near.py <<'P'
import json, sys

def numbers(name):
    for line in open(name):
        entry = json.loads(line)
        yield [(k, v) for k, v in sorted(entry.items()) if isinstance(v, (int, float)) and "seconds" not in k]

most = float(sys.argv[3])
a, b = list(numbers(sys.argv[1])), list(numbers(sys.argv[2]))
assert len(a) == len(b) and a, "different numbers of entries: %d, %d" % (len(a), len(b))
for x, y in zip(a, b):
    for (k, v), (other, w) in zip(x, y):
        assert k == other and abs(v - w) <= most * max(abs(v), abs(w)), "%s: %r is not near %r" % (k, v, w)
P
agree() { # tolerance, options...
    most=$1
    shift
    rm -f one.* two.* three.*
    labels 1 one "$@"
    labels 2 two "$@"
    labels 3 three "$@"
    for name in two three; do python3 near.py one.log $name.log "$most" || fail "$name: $*"; done
}

# Linear maps: 200 steps. Then few, as differences grow: moved and dropped examples, bits, decoders, layers that are pretrained, line searches.
agree 1e-4 --objective nca --rate 0.0005 -e 50
labels 2 again --objective nca --rate 0.0005 -e 50
cmp two.tpm again.tpm
agree 1e-4 --objective log-nca --start lda --motion 2 --corrupt 0.1 --l2 0.001 -e 8
agree 1e-3 --objective dt-log-nca --hidden 30,20 --start random --dropout 0.2 --degrees learned -e 5
agree 1e-3 --objective dt-mcml --hidden 30 --start rbm --pretrain-epochs 3 -e 3
agree 1e-3 --objective dg-nca --hidden 30 --start denoising --pretrain-epochs 3 --reconstruct 0.2 --free-units 4 -e 3
agree 1e-3 --objective nca --code binary -e 5
agree 1e-3 --objective nca --optimiser cg --start pca -e 2

# Another number of processes goes on from a checkpoint.
labels 2 part --objective nca -e 4000 >out 2>&1 &
running=$!
while [ ! -e part.run ] && kill -0 $running 2>/dev/null; do sleep 0.05; done
pkill -TERM -f "taper train-labels.*part.tpm" || true
wait $running && fail "mpirun succeeded although it was ended"
grep -q "stopped by a signal after step" out || fail "no checkpoint at SIGTERM: $(cat out)"
[ ! -e part.tpm ]
rm -f part.run three.log
labels 2 part --objective nca -e 30
cp part.run three.run
labels 3 three --objective nca -e 30 --resume
[ "$(wc -l <three.log)" = 30 ]

# What does not fit is refused.
mpirun -n 2 "$TAPER" train-labels -q -f --objective dt-nca --start taught -o x.tpm set/png >out 2>&1 && fail "a teacher"
grep -q "a teacher learns in one process" out
[ ! -e x.tpm ]
