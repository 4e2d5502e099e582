/* receivers.h -- section 6: networks of 64 binary units for populations of receivers, each judged
 * on each population, and what else could serve these.
 *
 * A receiver of bandwidth b takes the first b bits; what a way of serving a population costs is the
 * expected squared error over its bandwidths (equation 16), on the test images. Ways:
 *     0 .. 3      the network that was trained with population 0 .. 3 as p_B
 *     geometric   one trained with the geometric p_B of the same mean bandwidth
 *     plain       a standard autoencoder, cut
 *     rungs       seven networks of one length each, placed for the population (rungs.h)
 *     dedicated   a network for every length: the bound. Those of GRID lengths are trained, and
 *                 interpolated between them; the rungs' errors are these too. */
#ifndef BENCH_PAPER_RECEIVERS_H
#define BENCH_PAPER_RECEIVERS_H
#include "bench/paper/kinds.h"

enum { PAPER_POPULATIONS = 4, PAPER_RECEIVER_UNITS = 64, PAPER_RUNGS = 7 };
extern const char *const paper_populations[PAPER_POPULATIONS]; /* specifications (populations.h) */

typedef enum paper_way {
    PAPER_GEOMETRIC = PAPER_POPULATIONS,
    PAPER_CUT,
    PAPER_RUNG,
    PAPER_EACH_LENGTH,
    PAPER_WAYS
} paper_way;

/* Of one seed. */
typedef struct paper_service {
    double expected[PAPER_POPULATIONS][PAPER_WAYS];     /* [population][way] */
    double error[PAPER_WAYS][PAPER_RECEIVER_UNITS + 1]; /* at bandwidths 0 .. 64; not of
                                                           PAPER_GEOMETRIC and PAPER_RUNG */
    char geometric[PAPER_POPULATIONS][32];              /* its specification */
    uint32_t rung[PAPER_POPULATIONS][PAPER_RUNGS], rungs[PAPER_POPULATIONS];
} paper_service;

/* Trains what is not kept. */
void paper_serve(paper *p, const train_truncation *population, const paper_kind *kind,
                 uint32_t seed, paper_service *out);
#endif
