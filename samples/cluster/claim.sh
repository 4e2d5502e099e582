#!/bin/sh
# claim.sh -- encodes one shard, or merges all, unless another process has this work, of this or another host. rounds.sh
# calls it:
#
#   sh claim.sh I OUT INPUT...        part I of SHARDS, to OUT.shards/
#   sh claim.sh merge OUT INPUT...    all parts, to OUT
#
# To claim work is to make the folder OUT.claims/I: mkdir is atomic, also on a file system that hosts share. Its owner
# counts in OUT.claims/I/beat, so that others see that it lives; no clocks are compared. OUT.claims/I/done says that the
# work is done.
#
# Exit code 0: it is done, or another process has it. Otherwise that of `taper`; the work is free again.
set -eu
i=$1 out=$2
shift 2
claim=$out.claims/$i
taper=${TAPER:-taper}
mkdir "$claim" 2>/dev/null || exit 0

beat() { # as long as this script runs
    n=0
    while kill -0 $$ 2>/dev/null; do
        n=$((n + 1))
        echo "$n" >"$claim/beat"
        sleep "$BEAT"
    done
}
beat >/dev/null 2>&1 &
beating=$!
trap 'kill $beating 2>/dev/null; [ -e "$claim/done" ] || rm -rf "$claim"' EXIT
trap 'exit 143' TERM INT HUP

encode() {
    code=0 part=$(printf '%s.shards/part-%06d-of-%06d.taper' "$out" "$i" "$SHARDS")
    # shellcheck disable=SC2086  # OPTIONS are words
    "$taper" encode --shard "$i/$SHARDS" --resume --threads "$THREADS" ${OPTIONS-} \
        -o "$part" "$@" || code=$?
    # 1: the part was written without some inputs, which were named
    [ "$code" -le 1 ] || return "$code"
    # shellcheck disable=SC2086  # INDEX has words
    [ -z "${INDEX-}" ] || [ ! -e "$part" ] || "$taper" index --resume $INDEX -o "${part%.taper}.tpx" "$part"
}

merge() {
    merged=$out
    [ -z "${BYTES-}" ] || merged=$out.whole
    set -- "$out.shards"/part-*-of-"$(printf %06d "$SHARDS")".taper
    "$taper" merge -f -o "$merged" "$@" || return
    [ -z "${BYTES-}" ] || "$taper" truncate -f --bytes "$BYTES" -o "$out" "$merged"
}

if [ "$i" = merge ]; then merge; else encode "$@"; fi
: >"$claim/done"
