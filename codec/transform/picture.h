/* picture.h -- the decoded pixels of an image, in integers, until they become samples.
 *
 * A value v stands for the level 128 + v / 16 on the 8-bit scale. A picture covers the whole grid
 * of windows, and so may extend beyond the image. Its planes, one per channel, follow each other,
 * row by row. */
#ifndef CODEC_PICTURE_H
#define CODEC_PICTURE_H
#include "codec/window.h"
#include "formats/status.h"
#include <stddef.h>

/* One level. Before the post-filter, windows of a lapped model reach several times the range of
 * samples: black and white squares that meet at a corner of windows differ by 1,315 levels there
 * with `photo`, which has to fit 16 bits. */
enum { CODEC_PICTURE_ONE = 16 };

typedef struct codec_picture {
    uint32_t width, height, channels; /* of the grid; channels 1 or 3 */
    int16_t *value;                   /* [channels][height][width] */
} codec_picture;

/* The picture of a grid of windows. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status codec_picture_alloc(codec_picture *out, codec_window window, codec_grid grid);
void codec_picture_free(codec_picture *picture);
uint64_t codec_picture_bytes(codec_window window, codec_grid grid);

static inline int16_t *codec_picture_row(const codec_picture *p, uint32_t channel, uint32_t y) {
    return p->value + ((size_t)channel * p->height + y) * p->width;
}

/* The same, of all windows: value[rows * columns][values], each channel-planar. */
taper_status codec_picture_of_windows(codec_picture *out, codec_window window, codec_grid grid,
                                      const int16_t *value);

/* Copy n windows from number `first` on into their places. value: [n][values], each
 * channel-planar. */
void codec_picture_put(const codec_picture *picture, codec_window window, uint32_t first,
                       uint32_t n, const int16_t *value);

/* The values of n pixels on the 8-bit scale, rounded and clamped; NaN becomes the lowest. */
void codec_picture_values(const float *pixels, size_t n, int16_t *value);

/* Average a picture in place to 1 / scale of its size, rounded up: each value becomes the mean of
 * scale x scale values, or of those of them that are in the picture, rounded. scale: 1..16. */
void codec_picture_shrink(codec_picture *picture, uint32_t scale);

/* Write the picture to the image's samples, rounded and clamped. image: its size, channels (1 or
 * 3), depth and pixels are set; it is not larger than the picture. A grey image of a colour picture
 * gets the mean of the channels. */
void codec_picture_store(const codec_picture *picture, taper_image *image);

#endif
