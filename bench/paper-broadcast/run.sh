#!/bin/sh
# run.sh -- the broadcast of section 6 of the nested-dropout paper, one command.
#
#   TAPER_DATA=FOLDER sh bench/paper-broadcast/run.sh BUILD_DIR      `make paper-broadcast` calls this
#
# FOLDER holds kodak/ (the 24 Kodak images, on which the figures are told) and photos/ (other photographs as PNG, of which
# every eighth designs the ladders). Needs libwebp, and gnuplot for the plots.
#
# A sender broadcasts pictures to receivers of very different bandwidths. With a container each receiver reads the prefix
# that its line allows in the time of a picture; else the sender offers seven JPEG or WebP files, at any of four sizes,
# and each receiver gets the best that fits. Without anything to show a receiver sees a grey picture. Bandwidths come
# from seeded draws (population.py); thousands of receivers by arithmetic, 36 over TCP, which must agree.
#
# What repeats: all but the bytes that sockets bring late, which depend on the machine's load. The page shows how many.
#
# Writes build/paper-broadcast: index.html, which works without a network, the plots as SVG and PNG, a .jsonl for each part.
# What was measured is kept in build/paper-broadcast/work: a run that was stopped goes on.
#
# Price on 2 cores with nothing else to do: a quarter of an hour the first time, most of it coding; later 5 minutes. 150 MB of disk.
#
# Settings, from the environment:
#   QUICK=1     seconds: two generated pictures, six receivers; into OUT, build/paper-broadcast-quick
#   PARTS="simulate sweep rivals set sockets"   some of these; the page has the others of before
#   OUT=FOLDER
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/paper-broadcast/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
[ -z "${OUT:-}" ] || { mkdir -p "$OUT" && OUT=$(cd "$OUT" && pwd); }
cd "$(dirname "$0")/../.."
say() { echo "paper-broadcast: $*" >&2; }
if [ -n "${QUICK:-}" ]; then
    out=${OUT:-build/paper-broadcast-quick} quick=--quick
    [ -d "$out/work/scenes" ] || { mkdir -p "$out/work" && "$B/make_samples" scenes "$out/work/scenes" --count 6 >&2; }
    test=$out/work/scenes tune=$out/work/scenes
else
    out=${OUT:-build/paper-broadcast} quick=
    test=${TAPER_DATA:-}/kodak tune=${TAPER_DATA:-}/photos
    for folder in "$test" "$tune"; do
        [ -d "$folder" ] || { say "SKIP: no folder $folder (TAPER_DATA); QUICK=1 needs none"; exit 0; }
    done
fi
# shellcheck disable=SC2086
python3 bench/paper-broadcast/paper_broadcast.py "$B" "$out" "$out/work" "$test" "$tune" --parts "${PARTS:-}" $quick
say "$out/index.html"
