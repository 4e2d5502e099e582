/* refitted.h -- errors on the test images of any code with the best linear decoder for every length
 * (least_squares.h), fitted on the training images. */
#ifndef BENCH_PAPER_REFITTED_H
#define BENCH_PAPER_REFITTED_H
#include "bench/paper/paper.h"
#include "bench/paper/least_squares.h"

/* Against units that say the same; a bit has variance 0.25. 1e-5 and 1e-2 are worse at most
 * lengths. */
#define PAPER_RIDGE 1e-3

/* Codes [n][units] of images first .. first + n - 1 of the training images, or of the test's. */
typedef void paper_coder_fn(void *user, int test, size_t first, size_t n, float *codes);

typedef struct paper_refitted {
    paper *p;
    paper_coder_fn *coder;
    void *user;
    uint32_t units;
    paper_moments moments;
    float *codes, *pixels; /* of a block */
} paper_refitted;

/* Reads all training images once. */
void paper_refitted_begin(paper_refitted *r, paper *p, uint32_t units, paper_coder_fn *coder,
                          void *user);
/* At the curve's lengths, none longer than `units`; order NULL: as they are. */
void paper_refitted_measure(paper_refitted *r, const uint32_t *order, paper_curve *curve);
void paper_refitted_end(paper_refitted *r);

size_t paper_refitted_rows(const paper *p); /* training images that decoders are fitted on */
/* Rows less the mean of the training images, as floats. */
void paper_centred(const paper *p, int test, size_t first, size_t n, float *pixels);
#endif
