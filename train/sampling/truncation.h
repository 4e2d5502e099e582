/* truncation.h -- the part of a code that an example keeps in a training step.
 *
 * Nested dropout (Rippel et al. 2014, section 2) draws b ~ p_B(b) = rho^(b-1) (1 - rho) and drops
 * the units after b. There are two kinds of cuts.
 *
 * train_cut, for real-valued codes. A cut of a .taper file lacks low planes of all units, and whole
 * units. So an example draws a threshold T below which magnitudes become 0, the plane of the cut. T
 * is log-uniform because planes are powers of two. With a given probability the example also draws
 * a truncation b over units. Both are nested: a unit that is kept at some T and b is kept at every
 * smaller T and larger b.
 *
 * train_truncation, for any distribution p_B over the lengths 1 .. units: the geometric one, the
 * bandwidths of receivers (section 6, equation 16), or a list of a few lengths. */
#ifndef TRAIN_TRUNCATION_H
#define TRAIN_TRUNCATION_H
#include "formats/status.h"

typedef struct train_truncation {
    uint32_t units; /* K, at least 1 */
    /* [units] mass[b - 1] = p_B(b), 0 or more; they sum to 1 */
    double *mass;
    /* [units + 1] tail[i] = P(b > i): 1 (within rounding) at 0, 0 at units */
    double *tail;
} train_truncation;

typedef struct train_cut_range {
    /* 0 < low <= high, in units of the code */
    float threshold_low, threshold_high;
    /* 0 .. 1, of the geometric distribution */
    float rho;
    /* 0 .. 1: fraction of the examples that draw b */
    float truncated_fraction;
    /* NULL: log-uniform thresholds between low and high. Otherwise lengths (for example in bytes)
     * are drawn from it, and the threshold is threshold_at[length - 1]. */
    const train_truncation *lengths;
    const float *threshold_at;
} train_cut_range;

typedef struct train_cut {
    float threshold;
    /* b: units with index b and above are 0; 1 .. units */
    uint32_t kept;
} train_cut;

/* The cut of example `index` in step `step`: a pure function of its arguments. */
train_cut train_cut_draw(const train_cut_range *range, uint32_t units, uint64_t seed, uint64_t step,
                         uint64_t index);

/* b from u in [0, 1) by inversion; values above `units` become `units`. */
uint32_t train_truncation_from_uniform(float u, float rho, uint32_t units);

/* --- distributions over lengths ------------------------------------------------------- */

/* The distribution that `spec` names, for codes of `units` units. units 0: the number of lengths is
 * that of the file's numbers, or the ladder's last length.
 *
 *     geometric:RHO       p_B(b) = RHO^(b-1) (1 - RHO), 0 < RHO < 1 (section 2); the mass beyond
 *                         `units` is added to `units`
 *     log-uniform:E       mass proportional to 1/b, so each octave has the same; in addition, a
 *                         fraction E of all mass, 0 <= E < 1, on the last length
 *     power:A,E           the same with mass proportional to b^-A, 0 <= A <= 4; E is optional,
 *                         default 0
 *     uniform             all lengths have the same mass
 *     file:PATH           a text file of `units` positive numbers, for the lengths 1, 2, ... in
 *                         this order, separated by blanks; "#" begins a comment to the end of its
 *                         line. Their sum must be 1 within 0.001; they are then normalised.
 *     ladder:16,32,64     equal mass on each of these lengths, none on others; lengths rise, from
 *     ladder:16=3,32=1    1 to `units`. With positive weights, for all or none, mass is
 *                         proportional to them. Units beyond the last length are never kept.
 *
 * TAPER_ERR_ARG: the specification or the file's contents are wrong. The message has the line and
 * the remedy, but not the specification or the path, which the caller adds. TAPER_ERR_IO: the file
 * cannot be read. TAPER_ERR_LIMIT: it has more than 64 MiB. TAPER_ERR_NOMEM. After a failure *t is
 * zeroed and holds nothing. */
taper_status train_truncation_make(train_truncation *t, const char *spec, uint32_t units,
                                   taper_error *error);

void train_truncation_free(train_truncation *t); /* leaves it zeroed */

/* b in first + 1 .. units, from p_B given that b > first, by inversion of u in [0, 1): a larger u
 * gives a larger b. It is for unit sweeping (section 4.1), where the first units are frozen and
 * their truncations would teach nothing. Lengths without mass are not drawn. If there is no mass
 * beyond `first`, or too little for a double, b is units. u has 24 bits, so lengths of less than
 * 2^-24 may never be drawn. */
uint32_t train_truncation_draw(const train_truncation *t, uint32_t first, float u);

#endif
