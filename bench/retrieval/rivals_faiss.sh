#!/bin/sh
# rivals_faiss.sh -- compile rivals_faiss.cc and run it.
#
#     bench/retrieval/rivals_faiss.sh BUILD ARGUMENTS      BUILD as build/opt: of make
#
# FAISS is a folder of Faiss's sources with its library built for AVX2 in it:
#     cmake -B b -DFAISS_ENABLE_GPU=OFF -DFAISS_ENABLE_PYTHON=OFF -DBUILD_TESTING=OFF \
#         -DFAISS_OPT_LEVEL=avx2 -DCMAKE_BUILD_TYPE=Release && make -C b faiss_avx2
# Without it Debian's libfaiss-dev is taken, which is compiled for the oldest x86-64: it counts bits
# without the processor's instruction, and is several times slower than it need be.
cd "$(dirname "$0")/../.." || exit 1
build=${1:?BUILD} && shift
skip() {
    printf '{"bench":"retrieval/rivals","metric":"skipped","value":0,"unit":"","config":{"method":"faiss","skipped":"%s"}}\n' "$1"
    exit 0
}
if [ -n "$FAISS" ]; then
    library=$FAISS/b/faiss/libfaiss_avx2.a include=-I$FAISS
else
    library=/usr/lib/$(uname -m)-linux-gnu/libfaiss.a include=
fi
[ -e "$library" ] || skip "no $library: Debian's libfaiss-dev, or FAISS"
mkdir -p "$build/bench/retrieval" || exit 1
c++ -std=c++17 -O3 -fopenmp -I. $include -o "$build/bench/retrieval/rivals_faiss" \
    bench/retrieval/rivals_faiss.cc "$build/bench/common.o" "$build/internal.a" "$library" \
    -lopenblas -lz -lm || skip "rivals_faiss.cc does not compile with $library"
exec "$build/bench/retrieval/rivals_faiss" "$@"
