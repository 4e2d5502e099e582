/* numbers.c -- decimal numbers and arrays; see numbers.h. */
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdlib.h>

const char *train_number(const char *text, double *value) {
    /* strtod would also accept blanks, "inf" and "0x1p3" */
    size_t sign = *text == '-' || *text == '+';
    const char *digits = text + sign + (text[sign] == '.');
    if (*digits < '0' || *digits > '9') return NULL;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) return NULL;
    char *end;
    double v = strtod(text, &end);
    if (end == text || !isfinite(v)) return NULL;
    *value = v;
    return end;
}

const char *train_whole_number(const char *text, uint32_t *value) {
    uint64_t v = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        v = 10 * v + (uint64_t)(*at - '0');
        if (v > UINT32_MAX) return NULL;
    }
    if (at == text) return NULL;
    *value = (uint32_t)v;
    return at;
}

/* Element i is added to sum i mod 16, so that compilers can vectorise without reordering. */
double train_dot(size_t n, const float *a, const float *b) {
    enum { LANES = 16 };
    double sum[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) sum[l] += (double)a[i + l] * (double)b[i + l];
    for (size_t l = 0; i < n; i++, l++) sum[l] += (double)a[i] * (double)b[i];
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

int32_t train_rounded(float w, int32_t most) {
    float q = rintf(w);
    if (isnan(q)) return 0;
    return q > (float)most ? most : q < -(float)most ? -most : (int32_t)q;
}
