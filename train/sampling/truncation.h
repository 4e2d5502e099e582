/* truncation.h -- which part of a code an example may keep in one training step.
 *
 * Nested dropout (Rippel et al. 2014, section 2) draws b ~ p_B(b) = rho^(b-1) (1 - rho) and drops
 * units after b. Two kinds of cut are drawn here.
 *
 * train_cut, for real-valued codes: a cut of a .taper file lacks low planes of all units, and whole
 * units. So an example draws two things: a threshold T below which magnitudes vanish (the plane it
 * was cut at; log-uniform, because planes are powers of two), and, with a given probability, a
 * truncation b over units. Both are nested: a unit that is kept at some T and b is kept at every
 * smaller T and larger b.
 *
 * train_truncation, for any distribution p_B over the lengths 1 .. units: the geometric one, the
 * bandwidths of receivers (section 6, equation 16), or a ladder of a few lengths. */
#ifndef TRAIN_TRUNCATION_H
#define TRAIN_TRUNCATION_H
#include "formats/status.h"

typedef struct train_truncation {
    uint32_t units; /* K, at least 1 */
    double *mass;   /* [units] mass[b - 1] = p_B(b), 0 or more; they sum to 1 */
    double *tail;   /* [units + 1] tail[i] = P(b > i): 1 (within rounding) at 0, 0 at units */
} train_truncation;

typedef struct train_cut_range {
    float threshold_low, threshold_high; /* 0 < low <= high, in units of the code */
    float rho;                           /* 0 .. 1, of the geometric distribution */
    float truncated_fraction; /* 0 .. 1: of examples that draw b; the others keep all units */
    /* NULL: log-uniform thresholds between low and high. Otherwise lengths, in bytes say, are drawn
     * from this, and the threshold is threshold_at[length - 1]. */
    const train_truncation *lengths;
    const float *threshold_at;
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

/* --- any distribution over lengths ---------------------------------------------------- */

/* The distribution that `spec` names, for codes of `units` units; 0: as many lengths as a file has
 * numbers, or up to a ladder's last:
 *
 *     geometric:RHO       p_B(b) = RHO^(b-1) (1 - RHO), 0 < RHO < 1 (section 2); the mass beyond
 *                         `units` falls on `units`
 *     log-uniform:E       mass in proportion to 1/b, alike in every octave, and a part E of all,
 *                         0 <= E < 1, on the last length beside that
 *     power:A,E           the same in proportion to b^-A, 0 <= A <= 4; E may be left out, for 0
 *     uniform             every length alike
 *     file:PATH           a text file of `units` positive numbers, for the lengths 1, 2, ... in
 *                         this order: any blanks between them, "#" begins a comment to the end of
 *                         its line. They have to sum to 1 within 0.001 and are then normalised.
 *     ladder:16,32,64     equal mass on each of these lengths, none on others; lengths rise, from
 *     ladder:16=3,32=1    1 to `units`. With weights, positive and for all or none, mass is
 *                         proportional to them. Units beyond the last length are never kept.
 *
 * TAPER_ERR_ARG: the specification is wrong, or the file's contents are (the text has the line,
 * and the remedy, but neither the specification nor the path: the caller names it).
 * TAPER_ERR_IO: the file cannot be read. TAPER_ERR_LIMIT: it has more than 64 MiB. TAPER_ERR_NOMEM.
 * After a failure *t is zeroed and holds nothing. */
taper_status train_truncation_make(train_truncation *t, const char *spec, uint32_t units,
                                   taper_error *error);

void train_truncation_free(train_truncation *t); /* leaves it zeroed */

/* b in first + 1 .. units, from p_B given that b > first (unit sweeping, section 4.1: the first
 * units are fixed, and their truncations would teach nothing), by inversion of u in [0, 1): larger
 * u, larger b. Lengths without mass are not drawn; where there is no mass beyond `first`, or none
 * that a double can hold, b is units. u has 24 bits: what is rarer than 2^-24 may never come. */
uint32_t train_truncation_draw(const train_truncation *t, uint32_t first, float u);

#endif
