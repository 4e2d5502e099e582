/* bit_mixer.h -- bits of pixel layers: one function that encodes or decodes a bit, and the mixing
 * of several adaptive probabilities. Integers only.
 *
 * Mixing is logistic (Mahoney, "Adaptive weighing of context models", 2005): the logits of all
 * probabilities are weighted and added, and the weights follow the error of each bit.
 *
 * The directory codec/pixels/: pixel layers, whose chunks hold pixels instead of passes.
 *   bit_mixer      bits of given or mixed probability, in both directions
 *   colour_plane   planes of few colours: drawings, and alpha of few values
 *   background     the colour that encoders give to what is not known yet
 *   plane_contexts the neighbours of a pixel, and the contexts that they make
 *   new_colour     a colour that occurs for the first time
 *   alpha_bits     the lower bits of soft alpha
 *   pixel_group    the pixels of a group's images, and their layers
 *   pixel_store    decoded pixels to images, also scaled
 *   drawing        which images are drawings
 *   hidden_colours colours under full transparency, which encoders choose */
#ifndef CODEC_BIT_MIXER_H
#define CODEC_BIT_MIXER_H
#include "codec/entropy/range_coder.h"

/* The string of a chunk, in either direction. */
typedef struct codec_pixel_bits {
    codec_rc_encoder *to;   /* NULL: decodes */
    codec_rc_decoder *from; /* NULL: encodes */
    uint64_t most;          /* decoding: bits that the string may stand for */
    uint64_t count;         /* bits so far */
    /* Decoding: the string is too short for the next bit, or has stood for more than `most`. All
     * further bits are 0. */
    int starved;
} codec_pixel_bits;

/* Code a bit with the probability p1 / 65536 of being 1. Encoding: `bit`; decoding: ignored.
 * Returns the bit. */
static inline int codec_pixel_bit(codec_pixel_bits *b, int bit, uint32_t p1) {
    b->count++;
    if (b->to) {
        codec_rc_encode(b->to, bit, p1);
        return bit;
    }
    if (b->starved) return 0;
    bit = b->count > b->most ? CODEC_RC_STARVED : codec_rc_decode(b->from, p1);
    if (bit >= 0) return bit;
    b->starved = 1;
    return 0;
}

/* The same with an adaptive probability, which does not change once the string is starved. */
static inline int codec_pixel_bit_adaptive(codec_pixel_bits *b, int bit, codec_bit *model) {
    bit = codec_pixel_bit(b, bit, model->p1);
    if (!b->starved) codec_bit_update(model, bit);
    return bit;
}

enum {
    CODEC_MIXER_INPUTS = 8,     /* most */
    CODEC_MIXER_ONE = 65536,    /* 1.0 in a weight */
    CODEC_MIXER_MOST = 1 << 20, /* magnitude of a weight */
    CODEC_MIXER_RATE = 12,      /* weights change by error * logit >> this */
    CODEC_MIXER_LOGITS = 4096,  /* entries of the table of logits */
    CODEC_MIXER_LIMIT = 250     /* observations that a mixed probability remembers */
};

/* codec_logit[p >> 4]: the logit of p / 65536 in 1/64: the least x for which codec_squash(x) is at
 * least p rounded down to a multiple of 16. */
void codec_mixer_make_logits(int16_t logit[CODEC_MIXER_LOGITS]);

/* Probabilities that are mixed for one bit. */
typedef struct codec_mixer {
    const int16_t *logit; /* [CODEC_MIXER_LOGITS] */
    int32_t *weight;      /* [n] of the set for this bit */
    codec_bit *input[CODEC_MIXER_INPUTS];
    int n;
} codec_mixer;

/* Code a bit with the mixed probability, and adapt the probabilities and weights. */
int codec_mixed_pixel_bit(codec_pixel_bits *b, int bit, const codec_mixer *mixer);

#endif
