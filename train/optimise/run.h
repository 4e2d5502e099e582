/* run.h -- what every run needs: rows in a random order, a clock, a fingerprint, words for what
 * failed. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H
#include "formats/status.h"
#include <stddef.h>
#include <stdint.h>

/* Put rows[n] into a random order, every one as likely (Fisher and Yates), by draws 2 .. n of the
 * stream (philox.h). n up to UINT32_MAX. */
void train_shuffle(uint32_t *rows, size_t n, uint64_t seed, uint64_t stream);

/* Seconds from some fixed moment on, for differences; the clock of the day may be set meanwhile. */
double train_seconds(void);
double train_seconds_since(double begun); /* never below 0, though a clock may go back */

/* The fingerprint of a run (checkpoint.h) with some more bytes in it. To tell runs apart, not to
 * withstand an enemy. */
uint64_t train_fingerprint(uint64_t before, const void *bytes, size_t n);

/* The status, with a sentence in *error unless it is TAPER_OK: what failed, as format says, why,
 * and what can be done. */
taper_status train_told(taper_status status, taper_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
