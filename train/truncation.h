/* truncation.h -- which part of a code an example may keep in one training step.
 *
 * Nested dropout (Rippel et al. 2014, section 2) draws b ~ p_B(b) = rho^(b-1) (1 - rho) and drops
 * units after b. A cut of a .taper file truncates twice over: low planes of all units are missing,
 * and whole units are. So an example draws two things: a threshold T below which magnitudes vanish
 * (the plane it was cut at; log-uniform, because planes are powers of two), and, with a given
 * probability, a truncation b over units. Both are nested: a unit that is kept at some T and b is
 * kept at every smaller T and larger b. */
#ifndef TRAIN_TRUNCATION_H
#define TRAIN_TRUNCATION_H
#include <stdint.h>

typedef struct train_cut_range {
    float threshold_low, threshold_high; /* 0 < low <= high, in units of the code */
    float rho;                           /* 0 .. 1, of the geometric distribution */
    float truncated_share; /* 0 .. 1: share of examples that draw b; the others keep all units */
} train_cut_range;

typedef struct train_cut {
    float threshold;
    uint32_t kept; /* b: units from this index on are 0; 1 .. units */
} train_cut;

/* The cut of example `index` of step `step`: a pure function of its arguments. */
train_cut train_cut_draw(const train_cut_range *range, uint32_t units, uint64_t seed, uint64_t step,
                         uint64_t index);

/* b from u in [0, 1) by inversion; what falls beyond `units` becomes `units`. */
uint32_t train_truncation_from_uniform(float u, float rho, uint32_t units);

#endif
