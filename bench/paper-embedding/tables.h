/* tables.h -- what a paper says of cells beside what is here, a verdict each. */
#ifndef BENCH_PAPER_EMBEDDING_TABLES_H
#define BENCH_PAPER_EMBEDDING_TABLES_H
#include "bench/paper-embedding/records.h"

/* A figure of a paper: error of 5-NN in %, on test rows. */
typedef struct embedding_published {
    const char *label;                  /* as the paper calls the method */
    const char *set, *method, *variant; /* method NULL: this program does not have it */
    uint32_t dims;
    double error, deviation; /* error 0: the paper gives none; deviation of splits, 0: one run */
} embedding_published;

/* A cell's record, or what all splits together say. */
typedef struct embedding_figure {
    size_t runs, of;         /* of so many splits (1 without) */
    double error, deviation; /* mean and deviation of splits; of a single run 0 */
    double low, high;        /* 95 % interval of a single run */
    double alpha;            /* learned; 0: none, or not learned. Mean of splits */
    double minutes;          /* what is not run would take, as its recipe says */
} embedding_figure;
embedding_figure embedding_figure_of(const embedding *e, const char *set, const char *method,
                                     const char *variant, uint32_t dims);

/* Rows on the page: method, d, paper, here, verdict, spread; then the commands of what is not
 * run. */
void embedding_put_table(const embedding *e, FILE *to, const embedding_published *row, size_t rows);

/* Sentences on whether errors rise along these rows, as they do in the paper, with the gaps and
 * their 95 % intervals. */
void embedding_put_order(const embedding *e, FILE *to, const embedding_published *row, size_t rows);
#endif
