/* populations.h -- distributions over code lengths that the figures train for, beside those of
 * train/sampling/truncation.h:
 *
 *     log-normal:MEDIAN   receivers around a bandwidth: sigma 0.6, over the lengths that there are;
 *                         2 % are spread evenly, so that no length has mass 0 */
#ifndef BENCH_PAPER_POPULATIONS_H
#define BENCH_PAPER_POPULATIONS_H
#include "train/sampling/truncation.h"

/* mass[units], not normalised. 0 when there is no population of that name. */
int paper_population(const char *spec, uint32_t units, double *mass);

/* p_B over `units` lengths by name: those of truncation.h, and these populations. */
taper_status paper_truncation(train_truncation *t, const char *spec, uint32_t units,
                              taper_error *error);

double paper_mean_length(const train_truncation *t);

/* The rho whose geometric distribution over 1 .. units has this mean, 1 < mean < units. */
double paper_geometric_of_mean(double mean, uint32_t units);

/* As a file for `taper train-bits --truncation file:`. */
taper_status paper_write_histogram(const train_truncation *t, const char *path, const char *comment,
                                   taper_error *error);
#endif
