/* progress.h -- lines on standard error that say how far the work is, how fast, and how long it
 * will take: two a second at most, and plain, as they mostly go to a file. */
#ifndef BENCH_RETRIEVAL_PROGRESS_H
#define BENCH_RETRIEVAL_PROGRESS_H
#include <stddef.h>

typedef struct retrieval_progress {
    const char *what; /* "codes" */
    size_t total;
    double start, next; /* seconds, bench_now */
} retrieval_progress;

retrieval_progress retrieval_progress_start(const char *what, size_t total);
void retrieval_progress_tell(retrieval_progress *p, size_t done);
/* Seconds since the start. */
double retrieval_progress_seconds(const retrieval_progress *p);

#endif
