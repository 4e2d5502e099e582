/* exact_coder.h -- what encoder and decoder of the exact layer share. */
#ifndef CODEC_EXACT_CODER_H
#define CODEC_EXACT_CODER_H
#include "codec/exact/exact.h"
#include "codec/exact/exact_bits.h"
#include "codec/exact/exact_weights.h"

enum { CODEC_EXACT_BAND_PIXELS = 1 << 18 };

struct codec_exact {
    formats_block block;
    codec_exact_rows rows;
    int is_plain; /* samples are plain bits: nothing can be predicted */
    codec_exact_model model;
    codec_exact_weights weights;
    codec_exact_adapted adapted;
    codec_exact_weight_bits weight_bits;
    codec_bit same[CODEC_EXACT_CHANNELS]; /* a channel is that of the lossy image */
    codec_bit renewed;                    /* weights follow */
    codec_rc_decoder from;
    codec_pixel_bits bits;
};

/* Rows that share their weights: bands begin at the first row and at multiples of this. */
static inline uint32_t codec_exact_band_rows(uint32_t width) {
    return width < CODEC_EXACT_BAND_PIXELS ? CODEC_EXACT_BAND_PIXELS / width : 1;
}

/* Set the state before the first image, and code whether samples are plain. `bits` is set. */
void codec_exact_begin(codec_exact *exact, int is_plain);
/* Code which channels are those of the lossy image. Returns 1 if all are. */
int codec_exact_code_same(codec_exact *exact, uint8_t same[CODEC_EXACT_CHANNELS]);
/* Code at the beginning of a band whether weights follow, and these, which are exact->weights. */
void codec_exact_code_renewal(codec_exact *exact, int renewed);
/* Code row rows.y of an image. original: NULL: decodes into `image`. Returns 0 if the bytes end
 * within the row. */
int codec_exact_code_row(codec_exact *exact, const uint8_t same[CODEC_EXACT_CHANNELS],
                         const taper_image *original, taper_image *image);

#endif
