/* populations.h -- distributions over code lengths that the figures train for.
 *
 *     smooth          receivers around 200 bits: a log-normal of median 200 and sigma 0.6
 *     peaks           receivers on four kinds of line: 30, 35, 25 and 10 % around 40, 150, 360 and
 *                     900 bits (normal, of 4 % width)
 * smooth and peaks spread 2 % evenly, so that no length has mass 0; lengths scale with units /
 * 1024. */
#ifndef BENCH_PAPER_POPULATIONS_H
#define BENCH_PAPER_POPULATIONS_H
#include "train/sampling/truncation.h"

/* mass[units], not normalised. 0 when there is no population of that name. */
int paper_population(const char *spec, uint32_t units, double *mass);

double paper_mean_length(const train_truncation *t);

/* As a file for `taper train --truncation file:`. */
taper_status paper_write_histogram(const train_truncation *t, const char *path, const char *comment,
                                   taper_error *error);
#endif
