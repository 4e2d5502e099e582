/* baselines.h -- what a nested code of b bits is held against that is not an autoencoder: principal
 * components, this program's own codec, JPEG. All errors are on the test images. */
#ifndef BENCH_PAPER_BASELINES_H
#define BENCH_PAPER_BASELINES_H
#include "bench/paper/paper.h"

/* Principal components of the training images, one bit each: the sign of a component, read as its
 * mean magnitude over the training images. curve: the lengths to measure at. */
void paper_pca_signs(paper *p, uint32_t units, paper_curve *curve);

/* A curve whose lengths are not ours to choose. bits: per image. */
typedef struct paper_rates {
    size_t n;
    double bits[PAPER_MAX_LENGTHS], mse[PAPER_MAX_LENGTHS];
} paper_rates;

/* Family pca of this program on whole images: one container of the test set, cut so that
 * length[i] bits of image data an image are left (payload). file: the same cuts with all bytes
 * counted. */
void paper_container(paper *p, uint32_t units, const paper_curve *lengths, paper_rates *payload,
                     paper_rates *file);

/* JPEG, the better of 4:4:4 and 4:2:0 at each rate. payload: the entropy-coded scans alone. */
void paper_jpeg(paper *p, paper_rates *payload, paper_rates *file);
#endif
