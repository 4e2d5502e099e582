# samples/cluster/train.sbatch under a real Slurm of one node: before the time limit Slurm sends SIGUSR1; the job ends with a
# checkpoint, is queued again and continues, several times; the model is that of a run without a break.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/slurm_helpers.sh"
needs mpirun:openmpi-bin
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LAUNCH="mpirun --oversubscribe -n 1"
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM LAUNCH TAPER
slurm_start
"$SAMPLES" small set --count 48 --format png
options="-q --family dense --window 8 --units 12 --hidden 16 --batch 64 --quick --epochs 10000"

# a job runs for a minute at most, and gets its signal some ten seconds after it has begun, or up to thirty later
job=$(sbatch --parsable --time=1 --signal=B:USR1@50 "$ROOT/samples/cluster/train.sbatch" model.tpm \
    $options set/png)
begun=$(date +%s)
# shellcheck disable=SC2086
"$TAPER" train --threads 1 $options -o whole.tpm set/png
for _ in $(seq 900); do
    case $(slurm_states "$job") in
    PENDING*) # Slurm waits two minutes
        sleep 4
        scontrol update jobid="$job" StartTime=now 2>/dev/null || true
        sleep 1
        ;;
    RUNNING* | COMPLETING* | REQUEUED*) ;;
    *) break ;;
    esac
    sleep 0.3
done
log=taper-train-$job.log
state=$(slurm_states "$job")
[ "$state" = 'COMPLETED ' ] || { echo "the job is $state"; cat "$log"; slurm_show_logs; exit 1; }
echo "$(grep -c 'is queued again' "$log") breaks in $(($(date +%s) - begun)) s"
grep -q 'the time is over; the job is queued again and continues' "$log"
cmp whole.tpm model.tpm
test "$(find . -name 'model.tpm.*' | wc -l)" -eq 0 # the checkpoint is no longer needed

# what is wrong with the options is no matter of time
job=$(sbatch --parsable "$ROOT/samples/cluster/train.sbatch" wrong.tpm --family none set/png)
slurm_wait "$job"
test "$(slurm_states "$job")" = 'FAILED '
not grep -q 'is queued again' "taper-train-$job.log"
slurm_stop
nothing_left
