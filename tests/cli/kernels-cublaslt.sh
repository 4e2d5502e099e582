# What stands in for cuBLASLt has its values and its functions' types: where NVIDIA's header is, it says so.
header=$ROOT/tests/cuda/cublasLt.h
nvcc=$(command -v nvcc) || { echo "SKIP no nvcc: no header of cuBLASLt's"; exit 0; }
include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
test -f "$include/cublasLt.h" || { echo "SKIP nvcc has no cublasLt.h beside it"; exit 0; }
{
    echo '#include <cublasLt.h>'
    sed -n 's/.*[{ ]\(CU[A-Za-z0-9_]*\) = \([0-9]*\).*/_Static_assert(\1 == \2, "\1");/p' "$header"
    sed -n '/^\/\* --- functions/,/^#ifdef/p' "$header" | grep -v '^#'
} >both.c
test "$(grep -c _Static_assert both.c)" -gt 25
test "$(grep -c '^cublasStatus_t ' both.c)" -eq 12
cc -std=c11 -fsyntax-only -isystem "$include" both.c
