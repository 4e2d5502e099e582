# mpirun -n 2 taper train --device cuda, on the execution model: the GPUs of the processes add up by NCCL; the model has
# the bits of one whose sums went through the host, because NCCL is missing.
. "$ROOT/tests/cli_helpers.sh"
needs mpirun:openmpi-bin
build=$(dirname "$TAPER")
[ -e "$build/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
# the library of MPI is looked for beside the program
mkdir bin
cp "$build/tests/taper_model" bin/taper
cp "$build/taper-mpi.so" bin
"$SAMPLES" small set --count 8 --format png
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none TAPER_MODEL_ORDERS=1 TMPDIR=$PWD
ASAN_OPTIONS=detect_leaks=0 # MPI's
export ASAN_OPTIONS
fail() { echo "$*" && exit 1; }
train() { # name, what -v must say
    mpirun -n 2 bin/taper train -v -f --quick --family dense --window 8 --units 6 --hidden 8 --epochs 2 --batch 64 \
        --device cuda --log "$1.log" -o "$1.tpm" set/png >out 2>&1 || { cat out && fail "$1"; }
    grep -q "$2" out || { cat out && fail "no '$2'"; }
}
TAPER_MODEL_DEVICES=2 train nccl 'the GPUs of the processes add up by NCCL'
TAPER_MODEL_DEVICES=2 TAPER_MODEL_NCCL=missing train missing \
    'add up through the host: process 0: libnccl.so.2 of NCCL 2.14 or later cannot be loaded'
cmp nccl.tpm missing.tpm
for name in nccl missing; do sed 's/,"seconds":[^,}]*//' $name.log >$name.losses; done
grep -q '"loss"' nccl.losses
cmp nccl.losses missing.losses
[ -z "$(find . -name 'nccl-*')" ] || fail "files of NCCL are left"
