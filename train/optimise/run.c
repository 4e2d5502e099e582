/* run.c -- see run.h. */
#include "train/optimise/run.h"
#include "formats/bytes.h"
#include "train/sampling/philox.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void train_shuffle(uint32_t *rows, size_t n, uint64_t seed, uint64_t stream) {
    for (size_t i = n; i > 1; i--) {
        uint32_t word[4];
        train_philox(seed, i, stream, word);
        size_t j = train_philox_below(word[0], (uint32_t)i);
        uint32_t keep = rows[i - 1];
        rows[i - 1] = rows[j];
        rows[j] = keep;
    }
}

double train_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double train_seconds_since(double begun) {
    const double elapsed = train_seconds() - begun;
    return elapsed > 0 ? elapsed : 0;
}

uint64_t train_fingerprint(uint64_t before, const void *bytes, size_t n) {
    return (before << 32 | before >> 32) ^
           ((uint64_t)formats_crc32c((uint32_t)before, bytes, n) * 0x9E3779B97F4A7C15u);
}

taper_status train_explain(taper_status status, taper_error *error, const char *format, ...) {
    char what[160];
    va_list arguments;
    if (status == TAPER_OK) return status;
    if (status == TAPER_ERR_IO && error && error->status == status && error->text[0]) return status;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (status == TAPER_ERR_NOMEM)
        return formats_fail(error, status,
                            "%s: out of memory; take fewer images, or a smaller batch", what);
    if (status == TAPER_ERR_DEVICE)
        return formats_fail(error, status,
                            "%s: the device is lost; --resume continues from the last checkpoint",
                            what);
    if (status == TAPER_ERR_IO) /* files have a message of their own, and sums over ranks may not */
        return formats_fail(error, status,
                            "%s: another process has ended or did not answer in time; --resume "
                            "continues from the last checkpoint",
                            what);
    return formats_fail(error, status, "%s: %s", what, formats_status_name(status));
}
