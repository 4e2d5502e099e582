# Memory that a step of training frees stays with the process (cli/common/heap.h): more steps do not have more pages made
# by the system. Given back, each step has some hundred made.
. "$ROOT/tests/cli_helpers.sh"
if grep -q __asan_init "$TAPER"; then
    echo "SKIP sanitizers have an allocator of their own"
    exit 0
fi
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
ldd --version 2>&1 | grep -qiE 'glibc|gnu libc' || { echo "SKIP another C library than glibc"; exit 0; }
bars set 60

pages() { # epochs: page faults of a run
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)' "$TAPER" train-labels -q -f -T 1 -o model.tpm \
        --objective dt-log-nca --hidden 300,300 --start random --hold-out 0 -e "$1" set
}
few=$(pages 5) many=$(pages 105)
echo "$few pages in 5 epochs, $many in 105" >&2
[ $((many - few)) -lt 2000 ]
