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

/* Adaptive probabilities of differences. */
typedef struct codec_new_colours {
    codec_bit zero[CODEC_COLOUR_CHANNELS][3];
    codec_bit sign[CODEC_COLOUR_CHANNELS][3];
    codec_bit length[CODEC_COLOUR_CHANNELS][CODEC_SAMPLE_BITS];
    codec_bit digit[CODEC_COLOUR_CHANNELS][CODEC_SAMPLE_BITS][2];
    uint32_t last; /* the last new colour that is not transparent */
} codec_new_colours;

void codec_new_colours_reset(codec_new_colours *model);

/* Code `colour` (decoding: any), with the neighbours to the left, above and above left. Returns the
 * colour, which is legal for the kind whatever the bits are. */
uint32_t codec_new_colour(codec_pixel_bits *bits, codec_new_colours *model, codec_colour_kind kind,
                          const uint32_t neighbour[3], uint32_t colour);

#endif
