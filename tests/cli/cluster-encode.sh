# samples/cluster under a real Slurm of one node: an array of tasks encodes the shards of a set, a job behind them merges;
# the file has the pixels of one run. Tasks that are run again leave what is done; one that fails keeps the merge from
# running, and is made again.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/slurm_helpers.sh"
slurm_start
small_set 40
scripts=$ROOT/samples/cluster
options="-m model.tpm --best"
"$TAPER" encode -q $options -o one.taper set/png
"$TAPER" decode -q -m model.tpm -o one one.taper
SHARDS=5 OPTIONS=$options
export TAPER SHARDS OPTIONS

submit() { # sets $encode and $merge
    sh "$scripts/encode-slurm.sh" out.taper set/png >jobs
    read -r encode merge <jobs
}
states_are() { # job, states
    slurm_wait "$1"
    [ "$(slurm_states "$1")" = "$2" ] || {
        echo "job $1 is $(slurm_states "$1"), not $2"
        tail -n 30 ./*.log
        exit 1
    }
}
pixels_of_one_run() {
    rm -rf got
    "$TAPER" decode -q -m model.tpm -o got out.taper
    diff -r one got
}

submit
states_are "$encode" 'COMPLETED '
states_are "$merge" 'COMPLETED '
pixels_of_one_run
for task in 1 2 3 4 5; do not grep -q 'is made already' "taper-encode-$encode-$task.log"; done

# all of them again: they leave what is done
ls --full-time out.taper.shards >before
submit
states_are "$merge" 'COMPLETED '
for task in 1 2 3 4 5; do grep -q 'part-00000[1-5]-of-000005.taper is made already' "taper-encode-$encode-$task.log"; done
ls --full-time out.taper.shards | cmp - before
pixels_of_one_run

# a task that fails: nothing is merged; again: it alone is made
rm -r out.taper out.taper.shards/part-000002-of-000005.taper
mkdir out.taper.shards/part-000002-of-000005.taper
submit
states_are "$encode" 'COMPLETED FAILED '
states_are "$merge" 'CANCELLED '
test ! -e out.taper
rmdir out.taper.shards/part-000002-of-000005.taper
submit
states_are "$merge" 'COMPLETED '
not grep -q 'is made already' "taper-encode-$encode-2.log"
for task in 1 3 4 5; do grep -q 'is made already' "taper-encode-$encode-$task.log"; done
pixels_of_one_run

# one task alone, by hand; and a task that dies, which Slurm makes again
rm out.taper.shards/part-000004-of-000005.taper
job=$(sbatch --parsable --array=4 "$scripts/encode.sbatch" out.taper set/png)
states_are "$job" 'COMPLETED '
ls --full-time out.taper.shards | sed 1d | awk '{ print $NF }' | tr '\n' ' ' |
    grep -qx 'part-000001-of-000005.taper part-000002-of-000005.taper part-000003-of-000005.taper part-000004-of-000005.taper part-000005-of-000005.taper '
rm out.taper.shards/*
job=$(sbatch --parsable --array=1-5 "$scripts/encode.sbatch" out.taper set/png)
for _ in $(seq 100); do
    if scontrol requeue "${job}_3" 2>/dev/null; then break; fi # as where its node is lost
    sleep 0.1
done
states_are "$job" 'COMPLETED '

# a size for the whole, from the merging job
job=$(BYTES=20KB sbatch --parsable "$scripts/merge.sbatch" out.taper)
states_are "$job" 'COMPLETED '
test "$(wc -c <out.taper)" -le 20000
slurm_stop
nothing_left
