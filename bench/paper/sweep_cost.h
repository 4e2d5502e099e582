/* sweep_cost.h -- what leaving out the gradients of frozen units saves (section 4.1), measured: the
 * same rows with the same truncations, once with the first units frozen and once with none. */
#ifndef BENCH_PAPER_SWEEP_COST_H
#define BENCH_PAPER_SWEEP_COST_H
#include "bench/paper/paper.h"

enum { PAPER_SWEEP_PLACES = 7 };
typedef struct paper_sweep_cost {
    size_t n;
    double frozen[PAPER_SWEEP_PLACES];          /* units, rising from 0 */
    double milliseconds[2][PAPER_SWEEP_PLACES]; /* of a step's loss and gradient, median: [0] all
                                                   gradients, [1] those of frozen units left out */
    double quartile[2][2][PAPER_SWEEP_PLACES];  /* of these over 15 repeats: [0] lower, [1] upper */
    double multiply_adds[2][PAPER_SWEEP_PLACES]; /* million an image */
} paper_sweep_cost;

/* Of a network of one layer with a truncation, as its training would take the steps. */
void paper_measure_sweep(paper *p, paper_network *network, paper_sweep_cost *cost);
#endif
