/* signs.h -- bits without training: signs of principal components, and of the components turned by
 * iterative quantisation (itq.h). Both with the best linear decoder (refitted.h); components are
 * those of the training images. */
#ifndef BENCH_PAPER_SIGNS_H
#define BENCH_PAPER_SIGNS_H
#include "bench/paper/paper.h"

typedef struct paper_signs {
    paper *p;
    uint32_t units;
    float *projected[2]; /* [n][units] of the training images, of the test's */
} paper_signs;

void paper_signs_begin(paper_signs *s, paper *p, uint32_t units);
/* Is a component above its median over the training images? At all lengths of the curve. */
void paper_signs_plain(paper_signs *s, paper_curve *curve);
/* Each length of the curve with a rotation of its own of so many components, learned on 20,000
 * training images in 50 iterations from a random start. */
void paper_signs_itq(paper_signs *s, uint64_t seed, paper_curve *curve);
void paper_signs_end(paper_signs *s);
#endif
