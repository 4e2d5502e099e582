/* clipping.h -- which planes an encoder raises (raised_planes.h): those that an image of the group
 * needs because its model's planes cannot hold it. */
#ifndef CODEC_CLIPPING_H
#define CODEC_CLIPPING_H
#include "codec/bitplane/group.h"
#include "codec/bitplane/raised_planes.h"

/* One image of a group. */
typedef struct codec_clipping_image {
    uint32_t first, n; /* positions */
    uint64_t samples;  /* pixels * channels, over which its error is spread */
} codec_clipping_image;

/* Squared error a sample, on the 8-bit scale, that an image may lose by clipping before planes are
 * raised for it. Few natural images lose more; their last planes leave twice as much. */
#define CODEC_CLIPPING_MAY_LOSE 0.25

/* code: [units][stride] as by codec_quantise_wide. *raised: the units to raise, rising, and *n
 * their number; the caller's to free, NULL with 0. The other images' codes are clipped in place, so
 * that an image's codes do not depend on its group. TAPER_ERR_NOMEM. */
taper_status codec_clipping_choose(const codec_code_tables *tables, int16_t *code, size_t stride,
                                   const codec_clipping_image *image, size_t images,
                                   double may_lose, formats_raised **raised, uint32_t *n);

#endif
