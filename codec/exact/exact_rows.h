/* exact_rows.h -- the rows of an image that the exact layer looks at: lossy samples around a pixel,
 * and what is known of the exact ones. Integers only. */
#ifndef CODEC_EXACT_ROWS_H
#define CODEC_EXACT_ROWS_H
#include "formats/layout.h"

enum {
    CODEC_EXACT_CHANNELS = 4,
    CODEC_EXACT_MARGIN = 4, /* samples left and right of a row */
    CODEC_EXACT_PREDICTORS = 9,
    CODEC_EXACT_INPUTS = 40,   /* of a weighted prediction, most */
    CODEC_EXACT_LOSSY_ROWS = 5 /* y - 2 .. y + 2 */
};

/* Rows of one channel around row y. Pointers are to column 0; columns -CODEC_EXACT_MARGIN .. width
 * + CODEC_EXACT_MARGIN - 1 may be read. */
typedef struct codec_exact_channel {
    int32_t *lossy[CODEC_EXACT_LOSSY_ROWS];     /* rows y - 2 .. y + 2 of the lossy image */
    int32_t *residual[3];                       /* rows y, y - 1, y - 2: exact - lossy */
    int32_t *error[3];                          /* the same rows: exact - predicted, in 1/16 */
    int32_t *missed[CODEC_EXACT_PREDICTORS][3]; /* the same: |exact - predictor|, in 1/16 */
} codec_exact_channel;

typedef struct codec_exact_rows {
    uint32_t width, height, channels, depth, y;
    codec_exact_channel channel[CODEC_EXACT_CHANNELS]; /* in the order of coding */
    uint8_t place[CODEC_EXACT_CHANNELS];               /* the channel of the image */
} codec_exact_rows;

/* Lay out rows for images up to this width, with so many channels. */
void codec_exact_rows_lay_out(codec_exact_rows *rows, uint32_t width, uint32_t channels,
                              formats_layout *at);
/* Begin an image at row y; the rows above count as equal to the lossy ones. lossy: at most as wide
 * and with as many channels as was laid out. */
void codec_exact_rows_begin(codec_exact_rows *rows, const taper_image *lossy, uint32_t y);
/* Row y is known: go on to the next. `lossy` has its rows from y + 1 on. */
void codec_exact_rows_next(codec_exact_rows *rows, const taper_image *lossy);

static inline int32_t codec_exact_sample(const taper_image *image, size_t at) {
    return image->depth == 8 ? ((const uint8_t *)image->pixels)[at]
                             : ((const uint16_t *)image->pixels)[at];
}
static inline void codec_exact_set_sample(taper_image *image, size_t at, int32_t value) {
    if (image->depth == 8)
        ((uint8_t *)image->pixels)[at] = (uint8_t)value;
    else
        ((uint16_t *)image->pixels)[at] = (uint16_t)value;
}

/* The inputs of a weighted prediction of channel c at column x: differences in levels. Returns
 * their number, which depends on c and the number of channels alone. */
int codec_exact_inputs(const codec_exact_rows *rows, uint32_t c, uint32_t x,
                       int32_t input[CODEC_EXACT_INPUTS]);
int codec_exact_input_count(uint32_t channels, uint32_t c);

#endif
