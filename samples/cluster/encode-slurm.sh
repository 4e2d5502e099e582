#!/bin/sh
# encode-slurm.sh -- submits a set to Slurm: SHARDS tasks that encode, and a job that merges when all of them are done.
#
#   SHARDS=64 OPTIONS="-m photo --best" BYTES=20GB sh encode-slurm.sh set.taper photos/
#
# Prints the numbers of both jobs. If a task fails, the merge is cancelled: submit again, and what is done is skipped.
# Options of sbatch come from its variables, such as SBATCH_PARTITION and SBATCH_ACCOUNT; those of a task are in
# encode.sbatch. SHARDS (8), OPTIONS, BYTES and TAPER: see there, and merge.sbatch.
set -eu
[ $# -ge 2 ] || { echo "usage: SHARDS=N sh encode-slurm.sh OUT.taper INPUT..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
SHARDS=${SHARDS:-8}
export SHARDS
encode=$(sbatch --parsable --array="1-$SHARDS" "$here/encode.sbatch" "$@")
merge=$(sbatch --parsable --dependency="afterok:$encode" --kill-on-invalid-dep=yes "$here/merge.sbatch" "$1")
echo "$encode $merge"
