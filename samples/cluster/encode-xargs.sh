#!/bin/sh
# encode-xargs.sh -- encodes a set in shards by xargs, on one machine, or on several that share a folder. No queue, and no
# ssh: start the same line on each of them, in any way and at any time.
#
#   SHARDS=64 OPTIONS="-m photo --best" BYTES=20GB sh encode-xargs.sh set.taper photos/
#
# The variables are those of rounds.sh.
set -eu
each() { xargs -P "$JOBS" -I{} sh "$@"; }
. "$(dirname "$0")/rounds.sh"
