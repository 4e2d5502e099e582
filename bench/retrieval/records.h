/* records.h -- JSON lines that parts have printed, read again for the page: by what stands in them,
 * as they are written in one form alone (bench/bench.h). */
#ifndef BENCH_RETRIEVAL_RECORDS_H
#define BENCH_RETRIEVAL_RECORDS_H
#include <stddef.h>

typedef struct retrieval_records {
    char *text; /* lines end with 0 */
    char **line;
    size_t n;
} retrieval_records;

/* OUT/PART.jsonl; where there is none, n is 0. */
retrieval_records retrieval_records_read(const char *out, const char *part);
void retrieval_records_free(retrieval_records *records);

/* The number behind "field": in a line; NAN: it has no such field. */
double retrieval_number(const char *line, const char *field);

/* A curve: of each line of this metric that holds all `having`, texts that NULL ends, the field x
 * and the field y, sorted by x. n is 0 where there is none. */
typedef struct retrieval_curve {
    double *x, *y; /* [n] */
    size_t n;
} retrieval_curve;

retrieval_curve retrieval_curve_of(const retrieval_records *records, const char *metric,
                                   const char *x, const char *y, const char *const *having);
void retrieval_curve_free(retrieval_curve *curve);

#endif
