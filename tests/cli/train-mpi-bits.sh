# mpirun -n N taper train-bits: N processes take the steps of one, which differ by rounding alone; they go on from
# checkpoints of another number, and stop at a signal together.
. "$ROOT/tests/cli_helpers.sh"
needs mpirun:openmpi-bin
[ -e "$(dirname "$TAPER")/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
"$SAMPLES" small set --count 200 --format png
fail() { echo "$*" && exit 1; }
# OpenMPI refuses root, and more processes than processors, unless it is told
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
bits() { # processes, name, options...
    n=$1 name=$2
    shift 2
    set -- train-bits -q -f -w whole -k 24 -T 1 --batch 60 --checkpoint "$name.run" --log "$name.log" -o "$name.tpm" "$@" set/png
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
    rm -f one.* two.* again.* three.*
    bits 1 one "$@"
    bits 2 two "$@"
    bits 3 three "$@"
    for name in two three; do python3 near.py one.log $name.log "$most" || fail "$name: $*"; done
}

# Real units: 200 steps. A rounding may flip a bit, and training then takes another way: fewer steps of bits.
agree 1e-4 --code units --hidden 30 --corrupt 0.1 --dropout 0.2 --regularise adaptive-l1:0.01 -e 67
agree 1e-4 --code units --orthonormal -e 67
agree 1e-3 --preset paper --batch 60 -e 3
bits 2 again --preset paper --batch 60 -e 3
cmp two.tpm again.tpm
agree 1e-3 --class-units 8 -e 3
agree 1e-3 --untied --independent --batch 180 -e 5
agree 1e-3 --code units --optimiser cg --batch 180 -e 3

# A process that is killed ends all; another number of them goes on from the checkpoint.
bits 2 whole --independent -e 40
bits 2 part --independent -e 40 >out 2>&1 &
running=$!
while [ ! -e part.run ] && kill -0 $running 2>/dev/null; do sleep 0.05; done
victim=$(pgrep -f "taper train-bits.*part.tpm" | tail -1)
kill -KILL "$victim"
wait $running && fail "mpirun succeeded although a process was killed"
[ ! -e part.tpm ]
cp part.run three.run
rm -f three.log
bits 2 part --independent -e 40 --resume
cmp whole.tpm part.tpm
bits 3 three --independent -e 40 --resume
[ "$(wc -l <three.log)" = 40 ]

# SIGTERM: all stop in one step, with a checkpoint.
rm -f part.run part.tpm
bits 2 part -e 4000 >out 2>&1 &
running=$!
while [ ! -e part.run ] && kill -0 $running 2>/dev/null; do sleep 0.05; done
pkill -TERM -f "taper train-bits.*part.tpm" || true
wait $running && fail "mpirun succeeded although it was ended"
grep -q "stopped by a signal after step" out || fail "no checkpoint at SIGTERM: $(cat out)"
[ ! -e part.tpm ]

# More processes than images: some have none.
mkdir few
cp "$(ls set/png/*/*.png | head -1)" "$(ls set/png/*/*.png | tail -1)" few
mpirun -n 3 "$TAPER" train-bits -q -f -w whole -k 8 -e 2 -o few.tpm few
[ -e few.tpm ]
