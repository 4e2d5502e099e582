/* records.h -- what is known of cells: JSON lines in files of OUT, found again by what stands in
 * them. These are written by this program alone, in the one form that bench_write has. */
#ifndef BENCH_PAPER_EMBEDDING_RECORDS_H
#define BENCH_PAPER_EMBEDDING_RECORDS_H
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/embedding.h"

enum { EMBEDDING_KS = 4 };
extern const uint32_t embedding_k[EMBEDDING_KS]; /* 1, 3, 5, 7; all figures without a k are of 5 */

/* Errors are in %, with their 95 % interval. */
typedef struct embedding_record {
    size_t tested;
    double error[EMBEDDING_KS], low[EMBEDDING_KS], high[EMBEDDING_KS];
    double minutes;    /* it took to learn, the stack not counted */
    double alpha;      /* at the end; 0: there is none */
    double free_error; /* of 3-NN by the units that only reconstruct; 0: there are none */
    char settings[512];
} embedding_record;

/* 0: the cell has no record. */
int embedding_record_read(const embedding *e, const embedding_cell *cell, embedding_record *out);
/* Into OUT/SET.jsonl, in place of one that is there. Programs may do so at once. */
void embedding_record_write(const embedding *e, const embedding_cell *cell,
                            const embedding_record *record);

/* The value of the last line of OUT/FILE.jsonl that holds all these texts (NULL ends them); 0:
 * there is none. */
int embedding_find(const embedding *e, const char *file, double *value, ...);
#endif
