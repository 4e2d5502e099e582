#!/bin/sh
# encode-parallel.sh -- encodes a set in shards by GNU parallel, on one machine, or on several that share a folder: start
# the same line on each of them, or once with ssh (parallel --sshloginfile hosts --nonall ...).
#
#   SHARDS=64 OPTIONS="-m photo --best" BYTES=20GB sh encode-parallel.sh set.taper photos/
#
# OUT.claims/HOST.joblog has a line for each shard that was tried here: its time and exit code. The variables are those of
# rounds.sh.
set -eu
each() { parallel --will-cite -q -j "$JOBS" --joblog "+$claims/$(uname -n).joblog" sh "$@"; }
. "$(dirname "$0")/rounds.sh"
