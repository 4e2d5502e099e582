/* references.h -- references made of the images of CIFAR-10: as many as are asked for, block by
 * block, none of which is kept.
 *
 * With n images, reference v n + j is variant v of image j. Variant 0 is the image. The others are
 * motions of it, drawn anew for each by its image and number alone: mirrored or not; a square of
 * 24..32 pixels a side, anywhere, scaled back to the whole, bilinearly, where centres of pixels
 * fall; moved by -3..3 pixels each way, edges repeated. All in whole numbers. One in 900 of them is
 * the image itself, as of any such draw. */
#ifndef BENCH_RETRIEVAL_REFERENCES_H
#define BENCH_RETRIEVAL_REFERENCES_H
#include "bench/retrieval/images.h"
#include "codec/backend/pool.h"

enum { RETRIEVAL_BLOCK = 10000 }; /* references made at once, at most */

/* to[RETRIEVAL_PIXELS]: a variant, 0.., of image `number`, whose pixels are `from`. */
void retrieval_variant(uint64_t seed, size_t number, size_t variant, const uint8_t *from,
                       uint8_t *to);

typedef struct retrieval_references {
    retrieval_images of;    /* training images */
    retrieval_images block; /* references first .. first + n - 1; room for RETRIEVAL_BLOCK */
    size_t first;
    uint64_t seed;
    codec_pool *pool;
} retrieval_references;

void retrieval_references_open(retrieval_references *r, const char *data, uint64_t seed,
                               unsigned threads);
/* The block becomes references first .., at most RETRIEVAL_BLOCK of them and none from `end` on.
 * How many these are; 0: first is the end. */
size_t retrieval_references_make(retrieval_references *r, size_t first, size_t end);
void retrieval_references_close(retrieval_references *r);

#endif
