/* projections.h -- bits that no network has learned: signs of projections of pixels, which ordered
 * codes are compared with. Pixels are 0..255, less the mean of the images that are learned from. */
#ifndef BENCH_RETRIEVAL_PROJECTIONS_H
#define BENCH_RETRIEVAL_PROJECTIONS_H
#include "bench/retrieval/code_set.h"
#include "bench/retrieval/images.h"
#include "codec/backend/backend.h"

typedef struct retrieval_projections {
    const retrieval_images *images[2]; /* those that are learned from, queries; borrowed */
    codec_backend be;
    size_t inputs, units;
    float *mean;     /* [inputs] */
    float *block;    /* some images, less the mean */
    float *along[2]; /* [n][units] projections of images[] on the first principal components */
} retrieval_projections;

/* At most `units` principal components of the training images: there are no more than pixels. */
void retrieval_projections_open(retrieval_projections *p, const retrieval_images *training,
                                const retrieval_images *queries, size_t units, unsigned threads);
void retrieval_projections_close(retrieval_projections *p);

/* Is a component above its mean? All p->units of them, by falling variance. */
void retrieval_signs(retrieval_projections *p, retrieval_set *set);
/* The first `bits` components turned by iterative quantisation (bench/paper/itq.h), learned on all
 * training images from a random start. */
void retrieval_itq(retrieval_projections *p, size_t bits, uint32_t iterations, uint64_t seed,
                   retrieval_set *set);
/* Projections on independent normal directions: their first bits are as good as any. */
void retrieval_random(retrieval_projections *p, size_t bits, uint64_t seed, retrieval_set *set);

#endif
