# One in twenty of the mutants of the kernels: each must make a test fail.
sh "$ROOT/tests/mutants.sh" "$B" 20 | tee out
grep -q '^[0-9]* mutants, 0 survivors$' out
test "$(sed -n 's/^\([0-9]*\) mutants.*/\1/p' out)" -ge 5
