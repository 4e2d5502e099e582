/* rungs.h -- a few encodings for receivers of many bandwidths: which lengths they should have.
 *
 * A receiver of bandwidth b takes the longest rung of at most b; below the first it has nothing. */
#ifndef BENCH_PAPER_RUNGS_H
#define BENCH_PAPER_RUNGS_H
#include <stdint.h>

enum { PAPER_MAX_RUNGS = 16 };

/* The lengths of at most `rungs` (1 .. PAPER_MAX_RUNGS) rungs with the least expected error, by
 * dynamic programming, rising, into rung[]; *used of them. mass[units]: of bandwidths 1 .. units;
 * error[units + 1]: of a rung of 0 (nothing), 1, .. units bits. Returns the expected error, or -1
 * without memory. */
double paper_place_rungs(const double *mass, const double *error, uint32_t units, uint32_t rungs,
                         uint32_t *rung, uint32_t *used);

/* Errors at all lengths 0 .. units from those at n rising lengths, of which the first is 0 and the
 * last `units`: between them linear in log(1 + length). */
void paper_interpolate_errors(const uint32_t *length, const double *at, uint32_t n, double *error);
#endif
