/* codecs.h -- what a nested code of b bits is held against that is no code of bits: this program's
 * own codec, and JPEG. All errors are on the test images. */
#ifndef BENCH_PAPER_CODECS_H
#define BENCH_PAPER_CODECS_H
#include "bench/paper/paper.h"

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
