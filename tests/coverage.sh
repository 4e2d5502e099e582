#!/bin/sh
# coverage.sh -- which lines the corpora of the fuzz targets reach: of each file and each folder, in per cent.
#
#   sh tests/coverage.sh [FOLDER...]     default: codec/decoder codec/search formats
#
# Builds the replays with gcc's --coverage under build/cov (some minutes), runs each on its corpus, and sums what
# gcov says. A line counts where any corpus reaches it. FLOOR=95: exit code 1 where a folder has less.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- codec/decoder codec/search formats
B=build/cov
names=$(for f in tests/fuzz/fuzz_*.c; do f=${f##*/fuzz_}; echo "${f%.c}"; done)
# shellcheck disable=SC2046
make -s B=$B CUDA=0 CFLAGS="-O0 -g" SANFLAGS=--coverage $(for name in $names; do echo "$B/tests/fuzz/fuzz_$name"; done)
find $B -name '*.gcda' -delete
for name in $names; do $B/tests/fuzz/fuzz_"$name" "tests/fuzz/corpus/$name" >/dev/null; done
for folder in "$@"; do
    for file in "$folder"/*.c; do
        gcov -n -o "$B/${file%.c}.o" "$file" 2>/dev/null |
            awk -v file="$file" '/^File/ { mine = $0 == "File \047" file "\047" }
                mine && /^Lines/ { split($0, a, /[:% ]+/); print file, a[3], a[5]; mine = 0 }'
    done | awk -v folder="$folder" -v floor="${FLOOR:-0}" '
        { printf "%6.1f %% of %4d  %s\n", $2, $3, $1; reached += $2 * $3 / 100; lines += $3 }
        END { share = lines ? 100 * reached / lines : 0
              printf "%6.1f %% of %4d  %s/\n", share, lines, folder; exit share < floor }'
done
