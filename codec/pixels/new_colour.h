/* new_colour.h -- a colour that the list of a colour plane does not have: its samples, as
 * differences from what the neighbours predict. */
#ifndef CODEC_NEW_COLOUR_H
#define CODEC_NEW_COLOUR_H
#include "codec/pixels/bit_mixer.h"

enum {
    CODEC_SAMPLE_BITS = 16, /* most bits of a sample of a plane */
    CODEC_COLOUR_CHANNELS = 4
};

/* What the colours of a plane are. Colours of images have four samples of 8 bits, from the lowest
 * up red, green, blue and alpha, whatever the image has: those of a grey one are equal, and alpha
 * is 255 where there is none. Where alpha is 0 the colour is 0. Other planes have one sample. */
typedef struct codec_colour_kind {
    uint8_t channels; /* of the image: 1 or 3; 0: one sample of any kind */
    uint8_t alpha;    /* nonzero: the image has alpha */
    uint8_t bits;     /* of a sample: 8; with channels 0 up to 16 */
} codec_colour_kind;

enum {
    CODEC_SAMPLE_VIEWS = 3,  /* what a difference is seen by: contexts that are mixed */
    CODEC_SAMPLE_PLACES = 9, /* contexts of a view */
    /* Bits of a difference: whether it is 0, its sign, its length, the digit below the highest. */
    CODEC_SAMPLE_ZERO = 0,
    CODEC_SAMPLE_SIGN = 1,
    CODEC_SAMPLE_LENGTH = 2,
    CODEC_SAMPLE_DIGIT = CODEC_SAMPLE_LENGTH + CODEC_SAMPLE_BITS,
    CODEC_SAMPLE_STEPS = CODEC_SAMPLE_DIGIT + CODEC_SAMPLE_BITS
};

/* Adaptive probabilities of differences. */
typedef struct codec_new_colours {
    const int16_t *logit; /* borrowed (bit_mixer.h) */
    codec_bit bit[CODEC_SAMPLE_VIEWS][CODEC_COLOUR_CHANNELS][CODEC_SAMPLE_PLACES]
                 [CODEC_SAMPLE_STEPS];
    int32_t weight[CODEC_COLOUR_CHANNELS][CODEC_SAMPLE_STEPS][CODEC_SAMPLE_VIEWS];
    uint32_t last; /* the last new colour that is not transparent */
} codec_new_colours;

void codec_new_colours_reset(codec_new_colours *model, const int16_t *logit);

/* Code `colour` (decoding: any), with the neighbours to the left, above and above left. Returns the
 * colour, which is legal for the kind whatever the bits are. */
uint32_t codec_new_colour(codec_pixel_bits *bits, codec_new_colours *model, codec_colour_kind kind,
                          const uint32_t neighbour[3], uint32_t colour);

#endif
