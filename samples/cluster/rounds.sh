# rounds.sh -- read by encode-xargs.sh and encode-parallel.sh, which define each(): it runs claim.sh for the numbers on
# standard input, JOBS at a time. Goes over the shards until all parts are there, then merges them.
#
#   SHARDS    number of shards (64); the same on all hosts
#   JOBS      shards at a time on this host; default: its cores
#   THREADS   threads of each (1)
#   OPTIONS   options of `taper encode`, such as "-m photo --best"; no limit of the size
#   INDEX     options of `taper index`, such as "-m bits.tpm": also makes an index of each part, of the codes for search that
#             OPTIONS="--embed-with bits.tpm" stores; default: none
#   BYTES     a limit of the size of the file, such as 20GB; the longer file is kept as OUT.whole
#   TRIES     rounds with failures before this host gives up (3)
#   BEAT      seconds between signs of life (10); a process that gives none for five times as long has lost its shard
#   TAPER     the program, if it is not in PATH
#
# Hosts that share the folder of OUT may run this at the same time, and may come and go. OUT.claims tells them what is
# taken and done (claim.sh). A host that finds nothing left to do ends; one of them merges.
[ $# -ge 2 ] || { echo "usage: SHARDS=N sh $0 OUT.taper INPUT..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
out=$1
claims=$out.claims
SHARDS=${SHARDS:-64} JOBS=${JOBS:-$(nproc)} THREADS=${THREADS:-1} BEAT=${BEAT:-10}
export SHARDS THREADS BEAT
mkdir -p "$out.shards" "$claims"
mine=$claims/.$(uname -n)-$$
trap 'rm -rf "$mine.before" "$mine.dead"' EXIT

numbers() { # of shards that are not done
    for i in $(seq "$SHARDS"); do [ -e "$claims/$i/done" ] || echo "$i"; done
}
beat_of() { cat "$claims/$1/beat" 2>/dev/null; }

# Free what was claimed by processes that give no sign of life.
free_the_dead() {
    for i in $(numbers) merge; do
        [ ! -d "$claims/$i" ] || echo "$i $(beat_of "$i")"
    done >"$mine.before"
    sleep $((5 * BEAT))
    while read -r i beat; do
        if [ -e "$claims/$i/done" ] || [ "$(beat_of "$i")" != "$beat" ]; then continue; fi
        mv -T "$claims/$i" "$mine.dead" 2>/dev/null || continue # another host was quicker
        echo "$0: the process that had $i has died: it is made again" >&2
        rm -rf "$mine.dead"
    done <"$mine.before"
}

[ -n "$(numbers)" ] || echo "$0: all parts were made before; without $claims they are compared with the inputs" >&2
tries=0
while [ -n "$(numbers)" ]; do
    if ! numbers | each "$here/claim.sh" '{}' "$@"; then
        tries=$((tries + 1))
        [ "$tries" -lt "${TRIES:-3}" ] || { echo "$0: failed: shards $(numbers | tr '\n' ' ')" >&2; exit 1; }
    elif [ -n "$(numbers)" ]; then
        free_the_dead
    fi
done
while [ ! -e "$claims/merge/done" ]; do
    sh "$here/claim.sh" merge "$@" || exit
    [ -e "$claims/merge/done" ] || free_the_dead
done
