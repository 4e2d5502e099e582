/* run.h -- helpers of every run: shuffling, a clock, fingerprints, and messages of failures. */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H
#include "formats/status.h"
#include <stddef.h>
#include <stdint.h>

/* Shuffles rows[n] uniformly (Fisher-Yates), by draws 2 .. n of the stream (philox.h). n is at most
 * UINT32_MAX. */
void train_shuffle(uint32_t *rows, size_t n, uint64_t seed, uint64_t stream);

/* Seconds of a clock that is independent of the time of day; use differences only. */
double train_seconds(void);
double train_seconds_since(double begun); /* at least 0 */

/* Extends a run's fingerprint (checkpoint.h) by n bytes. It distinguishes runs; it is not
 * cryptographic. */
uint64_t train_fingerprint(uint64_t before, const void *bytes, size_t n);

/* Returns status. Unless it is TAPER_OK, *error gets a message: what failed, as format says, the
 * reason, and the remedy. The message of a TAPER_ERR_IO, as of another rank that has ended, stays.
 */
taper_status train_explain(taper_status status, taper_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
