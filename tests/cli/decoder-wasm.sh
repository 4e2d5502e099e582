# The decoder compiles for 32-bit WebAssembly. No C library for it is needed to compile: the
# declarations below are all that the decoder takes from one.
command -v clang >/dev/null || { echo "SKIP no clang"; exit 0; }
clang --print-targets | grep -q wasm32 || { echo "SKIP this clang has no target wasm32"; exit 0; }
sources=$(sed "s|^|$ROOT/|" "$ROOT/tests/decoder_sources.txt")
flags="-std=c11 -I$ROOT -Wall -Wextra -Wpedantic -Werror -ffp-contract=off"
include=$(printf '#include <zstd.h>\n' | ${CC:-cc} -E - | sed -n 's/^# 1 "\(.*\)\/zstd\.h".*/\1/p')
test -n "$include"
mkdir libc
cp "$include"/zstd*.h "$include"/xxh*.h libc
cat >libc/stdlib.h <<'H'
#include <stddef.h>
void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t);
void free(void *);
int abs(int);
long long llabs(long long);
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
typedef struct file FILE;
int snprintf(char *, size_t, const char *, ...), vsnprintf(char *, size_t, const char *, va_list);
H
cat >libc/math.h <<'H'
double exp(double), exp2(double), log2(double), sqrt(double), floor(double), ldexp(double, int);
float exp2f(float), log2f(float), sqrtf(float), floorf(float), fabsf(float), ldexpf(float, int), frexpf(float, int *);
double pow(double, double), fabs(double), rint(double), fmin(double, double), fmax(double, double);
float fminf(float, float), fmaxf(float, float);
long lrint(double), lrintf(float);
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
H
mkdir wasm && cd wasm
for source in $sources; do
    # shellcheck disable=SC2086
    clang --target=wasm32 $flags -O1 -nostdlibinc -isystem ../libc -c \
        -o "$(echo "${source%.c}" | tr / -).o" "$source"
done
test "$(find . -name '*.o' | wc -l)" -eq "$(wc -l <"$ROOT/tests/decoder_sources.txt")"
