# What ptxas says of the kernels, where nvcc has made them: nothing is spilled, and as many blocks as should be
# find room on a multiprocessor.
most_registers=96 most_shared=24576 # two blocks of 256 threads, and more of most kernels
build=$(dirname "$TAPER")
ls "$build"/train/cuda/kernels/*.ptxas >/dev/null 2>&1 || { echo "SKIP no nvcc: the kernels were not compiled for GPUs"; exit 0; }
for listing in "$build"/train/cuda/*.ptxas "$build"/train/cuda/kernels/*.ptxas; do
    awk -v registers=$most_registers -v shared=$most_shared '
        /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] " for " part[4]; kernels++ }
        /bytes stack frame/ { if ($1 + 0 || $5 + 0 || $9 + 0) { print kernel ": " $0; bad = 1 } }
        /Used [0-9]+ registers/ {
            for (i = 1; i < NF; i++) {
                if ($i == "Used" && $(i + 1) > registers) { print kernel ": " $(i + 1) " registers"; bad = 1 }
                if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/ && $i > shared) { print kernel ": " $i " bytes shared"; bad = 1 }
            } }
        /warning/ { print; bad = 1 }
        END { exit bad }' "$listing" || { echo "$listing"; exit 1; }
done
cat "$build"/train/cuda/kernels/*.ptxas | grep -c 'Compiling entry function' >count
test "$(cat count)" -ge $((60 * $(wc -w <"$build/cuda_arch"))) # some 60 operations, for each architecture
