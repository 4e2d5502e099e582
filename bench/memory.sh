#!/bin/sh
# memory.sh -- peak memory of encoding, against the number of images, as JSON lines.
#
#   sh bench/memory.sh TAPER MODEL FEW MANY...     (FEW: one input; MANY: several)
set -eu
taper=$1 model=$2 few=$3
shift 3
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
machine="$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo), $(nproc) cores"
peak() { # KB of encoding these inputs
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
        "$taper" encode -q -f -T 2 -m "$model" --bytes-per-image 200 -o build/memory.taper "$@"
}
a=$(peak "$few") b=$(peak "$@")
rm -f build/memory.taper
line() {
    printf '{"bench":"memory","metric":"%s","value":%s,"unit":"%s","config":{"threads":2,"bytes_per_image":200},"commit":"%s","machine":"%s","command":"bench/memory.sh"}\n' \
        "$1" "$2" "$3" "$commit" "$machine"
}
line "peak, one input" "$a" KB
line "peak, $# inputs" "$b" KB
line "growth" "$(awk "BEGIN { print 100 * ($b - $a) / $a }")" "%"
