# The decoder builds alone, as plain C11: no oneDNN, no CUDA, no encoder, no training, no image
# libraries; only zstd, xxHash and libm are linked. It decodes what the whole taper wrote.
CC=${CC:-cc}
decoder="formats/status formats/bytes formats/container formats/directory formats/model_file
    codec/library codec/model codec/weights_coder codec/network codec/windows codec/code_tables
    codec/fixed_log codec/contexts codec/group codec/range_coder codec/chunk_coder
    codec/group_reader codec/decoder codec/backend/backend codec/backend/onednn
    codec/backend/plain codec/backend/pool"
sources=
for file in $decoder; do sources="$sources $ROOT/$file.c"; done
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -DTAPER_VERSION=\"alone\""
# shellcheck disable=SC2086
$CC $flags -O1 -o alone "$ROOT/tests/decoder_alone.c" $sources -lzstd -lxxhash -lm -pthread

# a linear model of windows, and a nonlinear one of small dots, which no linear model can follow
"$SAMPLES" small pca --count 40 --format png
"$TAPER" train -q --window 8 -o pca.tpm pca/png
mkdir -p dense/png
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 500; i++) {
        file = sprintf("dense/png/%03d.pgm", i)
        x = 3 + 6 * rand(); y = 3 + 6 * rand()
        print "P2 12 12 255" >file
        for (r = 0; r < 12; r++)
            for (c = 0; c < 12; c++) print int(255 * exp(-((c - x) ^ 2 + (r - y) ^ 2) / 3)) >file
        close(file)
    }
}'
"$TAPER" train --family dense --window whole --units 16 --hidden 64 --epochs 10 --batch 32 \
    --rate 0.003 -o dense.tpm dense/png 2>said
if grep 'gained nothing' said; then exit 1; fi

for set in pca dense; do
    for layout in set image; do
        "$TAPER" encode -q --embed-model --layout $layout -m $set.tpm -o set.taper -f $set/png
        "$TAPER" decode -q --format idx -o all.idx -f set.taper
        header=$([ $set = pca ] && echo 20 || echo 16) # four dimensions in colour, three in grey
        tail -c +$((header + 1)) all.idx >pixels
        ./alone set.taper pixels
    done
done
# it can tell: one pixel brighter by 2 is seen
first=$(od -An -tu1 -N1 pixels)
wrong=$((first > 100 ? first - 2 : first + 2))
{ printf "\\$(printf %03o "$wrong")"; tail -c +2 pixels; } >other
if ./alone set.taper other >said; then cat said; exit 1; fi

# The same files for 32-bit WebAssembly, where clang can. Its C library is not needed to compile:
# these declarations are all that the decoder takes from one.
command -v clang >/dev/null && clang --print-targets | grep -q wasm32 || exit 0
include=$(printf '#include <zstd.h>\n' | $CC -E - | sed -n 's/^# 1 "\(.*\)\/zstd\.h".*/\1/p')
test -n "$include"
mkdir libc
cp "$include"/zstd*.h "$include"/xxh*.h libc
cat >libc/stdlib.h <<'H'
#include <stddef.h>
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t);
void free(void *);
int abs(int);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
H
cat >libc/string.h <<'H'
#include <stddef.h>
void *memcpy(void *, const void *, size_t), *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t), *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t), strcmp(const char *, const char *);
size_t strlen(const char *), strcspn(const char *, const char *);
H
cat >libc/stdio.h <<'H'
#include <stdarg.h>
#include <stddef.h>
int snprintf(char *, size_t, const char *, ...), vsnprintf(char *, size_t, const char *, va_list);
H
cat >libc/math.h <<'H'
double exp(double), exp2(double), log2(double), sqrt(double), floor(double), ldexp(double, int);
float exp2f(float), log2f(float), sqrtf(float), floorf(float), fabsf(float), ldexpf(float, int);
double pow(double, double), fabs(double), rint(double), fmin(double, double), fmax(double, double);
float fminf(float, float), fmaxf(float, float);
long lrint(double), lrintf(float);
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
H
mkdir wasm && cd wasm
# shellcheck disable=SC2086
clang --target=wasm32 $flags -O1 -nostdlibinc -isystem ../libc -c $sources
test "$(find . -name '*.o' | wc -l)" -eq "$(echo $decoder | wc -w)"
