# samples/cluster/train.sbatch under a real Slurm of one node: a job of two processes saves a checkpoint at a signal, is
# queued again and continues, twice; the model is that of a run without a break. At its time limit Slurm signals by itself.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/slurm_helpers.sh"
needs mpirun:openmpi-bin
[ -e "$(dirname "$TAPER")/taper-mpi.so" ] || {
    echo "SKIP built without MPI (libopenmpi-dev is not installed)"
    exit 0
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cat >listen.sh <<'P'
#!/bin/sh
trap 'echo "$SLURM_JOB_ID" >>heard; kill -USR1 $taper' USR1
"$REAL" "$@" &
taper=$! code=0
while wait $taper || code=$?; kill -0 $taper 2>/dev/null; do code=0; done
exit $code
P
chmod +x listen.sh
export REAL="$TAPER" TAPER="$PWD/listen.sh"
slurm_start
"$SAMPLES" small set --count 48 --format png
script=$ROOT/samples/cluster/train.sbatch
network="-q --family dense --window 8 --units 12 --hidden 16 --batch 64 --quick"
options="$network --epochs 600 set/png"
size="--ntasks=2 --cpus-per-task=1"

broken() { # words
    echo "$*"
    scontrol show job "$job"
    tail -n 30 taper-train-*.log
    slurm_show_logs
    exit 1
}
restarts() { scontrol -o show job "$job" | sed 's/.*Restarts=\([0-9]*\).*/\1/'; }
file() { ls --inode "$model.checkpoint" 2>/dev/null || true; }
# Until the job runs as often as this, and has saved a checkpoint in that run.
saves_again() { # restarts, the checkpoint of before
    for _ in $(seq 900); do
        case $(slurm_states "$job") in PENDING* | RUNNING* | COMPLETING* | REQUEUED*) ;; *) break ;; esac
        [ "$(restarts)" -lt "$1" ] || [ "$(file)" = "$2" ] || return 0
        sleep 0.1
    done
    broken "no checkpoint in run $1 of $model"
}

# one that goes on for ever: Slurm looks at time limits each half a minute
model=long.tpm
# shellcheck disable=SC2086
long=$(LAUNCH="srun --mpi=pmix nice -n 19" sbatch --parsable $size --time=1 --signal=B:USR1@55 "$script" long.tpm \
    $network --epochs 100000 set/png)

# shellcheck disable=SC2086
mpirun --bind-to none -n 2 "$REAL" train --threads 1 $options -o whole.tpm
model=model.tpm
# shellcheck disable=SC2086
job=$(sbatch --parsable $size "$script" model.tpm $options)
before=
for run in 0 1; do
    saves_again $run "$before"
    before=$(file)
    scancel --batch --signal=USR1 "$job"
done
saves_again 2 "$before"
slurm_wait "$job"
[ "$(slurm_states "$job")" = 'COMPLETED ' ] || broken "job $job has not completed"
test "$(grep -c 'the time is over; the job is queued again and continues' "taper-train-$job.log")" -eq 2
test "$(grep -cx "$job" heard)" -ge 4 # each process, each time
cmp whole.tpm model.tpm
test "$(find . -name 'model.tpm.*' | wc -l)" -eq 0 # the checkpoint is no longer needed

# what is wrong with the options is no matter of time, and neither is a model that is there
# shellcheck disable=SC2086
for words in "wrong.tpm --family none set/png" "model.tpm set/png"; do
    job=$(sbatch --parsable $size "$script" $words)
    slurm_wait "$job"
    test "$(slurm_states "$job")" = 'FAILED '
    not grep -q 'is queued again' "taper-train-$job.log"
done
cmp whole.tpm model.tpm

job=$long model=long.tpm
saves_again 1 ""
grep -q 'the time is over; the job is queued again and continues' "taper-train-$job.log"
scancel "$job"
slurm_wait "$job"
test "$(grep -cx "$job" heard)" -ge 2
slurm_stop
nothing_left
