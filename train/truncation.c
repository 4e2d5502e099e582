/* truncation.c -- drawing thresholds and truncations; see truncation.h. */
#include "truncation.h"
#include "philox.h"
#include <math.h>

uint32_t train_truncation_from_uniform(float u, float rho, uint32_t units) {
    if (!(rho > 0.0f)) return 1;
    if (!(rho < 1.0f)) return units;
    /* P(b > n) = rho^n, so b = 1 + floor(log(1 - u) / log(rho)) */
    double extra = floor(log1p(-(double)u) / log((double)rho));
    return extra >= (double)(units - 1) ? units : 1 + (uint32_t)extra;
}

train_cut train_cut_draw(const train_cut_range *range, uint32_t units, uint64_t seed, uint64_t step,
                         uint64_t index) {
    uint32_t word[4];
    train_philox(seed, index, TRAIN_STREAM_CUT + (step << 8), word);
    double low = log((double)range->threshold_low), high = log((double)range->threshold_high);
    train_cut cut = {(float)exp(low + (high - low) * train_philox_uniform(word[0])), units};
    if (train_philox_uniform(word[1]) < range->truncated_share)
        cut.kept = train_truncation_from_uniform(train_philox_uniform(word[2]), range->rho, units);
    return cut;
}
