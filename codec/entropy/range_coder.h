/* range_coder.h -- an adaptive binary range coder in 64-bit integers: the same bits on every
 * machine.
 *
 * The coder of Martin (1979) in its binary form. The state is an interval [low, low + range) of a
 * 64-bit window on the code string. A bit has the probability p1 / 65536 of being 1. A 1 selects
 * the lower (range >> 16) * p1 of the interval, a 0 the rest. When range falls below 2^32, the top
 * 32 bits are written, big-endian. A later carry is added to the written bytes.
 *
 * The decoder accepts any prefix of the string. It decodes exactly the bits that are the same for
 * every continuation of the prefix, and returns CODEC_RC_STARVED at the first other bit. It
 * continues when more bytes are available. So every byte of a cut file is used.
 *
 * The directory codec/entropy/: entropy coding.
 *   range_coder              bits of given probability, and adaptive probabilities
 *   mixed_bit                the probability of a bit of a binary unit
 *   fixed_log                logarithms in integers
 *   interleave               the strings of several strips in one
 *   rans weights_coder       symbols of known frequencies; matrices of weights, coded with them
 *   int_matrix               matrices of integers, in the form of weights_coder */
#ifndef CODEC_RANGE_CODER_H
#define CODEC_RANGE_CODER_H
#include "formats/bytes.h"

enum { CODEC_RC_STARVED = -1 };

/* --- probabilities --- */

/* An adaptive estimate of P(bit = 1) in 1/65536. Each bit changes it by 1/(count + 1.5) of the
 * error. Until count reaches CODEC_BIT_LIMIT, it is the mean of all bits so far. */
typedef struct codec_bit {
    uint16_t p1;    /* 32 .. 65504 */
    uint16_t count; /* 0 .. CODEC_BIT_LIMIT: confidence, in observations */
} codec_bit;

enum { CODEC_BIT_LIMIT = 400, CODEC_P_MIN = 32, CODEC_P_MAX = 65536 - 32 };

extern const uint16_t codec_bit_rate[CODEC_BIT_LIMIT + 1]; /* round(65536 / (count + 1.5)) */

static inline void codec_bit_update(codec_bit *model, int bit) {
    int32_t p = model->p1, rate = codec_bit_rate[model->count];
    int32_t error = (bit ? 65535 : 0) - p;
    p += (int32_t)(((int64_t)error * rate) >> 16);
    model->p1 = (uint16_t)(p < CODEC_P_MIN ? CODEC_P_MIN : p > CODEC_P_MAX ? CODEC_P_MAX : p);
    model->count = (uint16_t)(model->count + (model->count < CODEC_BIT_LIMIT));
}

/* --- encoder --- */

typedef struct codec_rc_encoder {
    uint64_t low, range;
    /* Borrowed; the string is appended. Errors are in its status. */
    formats_buffer *out;
    size_t start; /* offset of this string in out */
} codec_rc_encoder;

void codec_rc_encoder_init(codec_rc_encoder *rc, formats_buffer *out);
/* Write the top 32 bits. Not inline. */
void codec_rc_encoder_shift(codec_rc_encoder *rc);
/* Add a carry to the written bytes. */
void codec_rc_encoder_carry(codec_rc_encoder *rc);
/* Finish the string with as few bytes as possible. A decoder reads zeros after the end. */
void codec_rc_encoder_finish(codec_rc_encoder *rc);

/* p1: probability of a 1 in 1/65536, 1 .. 65535. */
static inline void codec_rc_encode(codec_rc_encoder *rc, int bit, uint32_t p1) {
    uint64_t bound = (rc->range >> 16) * p1;
    if (bit) {
        rc->range = bound;
    } else {
        rc->low += bound;
        if (rc->low < bound) codec_rc_encoder_carry(rc);
        rc->range -= bound;
    }
    if (rc->range < (uint64_t)1 << 32) codec_rc_encoder_shift(rc);
}

static inline void codec_rc_encode_adaptive(codec_rc_encoder *rc, int bit, codec_bit *model) {
    codec_rc_encode(rc, bit, model->p1);
    codec_bit_update(model, bit);
}

/* --- decoder --- */

typedef struct codec_rc_decoder {
    /* range and code are not adjacent: compilers would load adjacent members as a pair, and wait
     * for their separate stores. */
    uint64_t range;
    /* The true code is in code .. code + unknown; 0 if all bytes of the window are known. */
    uint64_t unknown;
    /* The string's window minus low; unknown bytes count as 0. */
    uint64_t code;
    const uint8_t *bytes; /* [size] borrowed */
    size_t size;
    /* The end of the window in the string; above size if bytes are unknown. */
    size_t at;
    int whole; /* the string is complete: zeros follow */
} codec_rc_decoder;

/* bytes[size]: the available part of the string. whole: it is the complete string. */
void codec_rc_decoder_init(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole);
/* Continue with a longer prefix of the same string. size must not decrease, and the earlier bytes
 * must be the same. */
void codec_rc_decoder_extend(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole);
/* Move the window by 32 bits. Not inline. */
void codec_rc_decoder_shift(codec_rc_decoder *rc);

/* The next bit, or CODEC_RC_STARVED, which does not change the state. */
static inline int codec_rc_decode(codec_rc_decoder *rc, uint32_t p1) {
    uint64_t bound = (rc->range >> 16) * p1;
    int bit = rc->code < bound;
    if (bit && rc->unknown >= bound - rc->code) return CODEC_RC_STARVED;
    if (bit) {
        rc->range = bound;
    } else {
        rc->code -= bound;
        rc->range -= bound;
    }
    if (rc->range < (uint64_t)1 << 32) codec_rc_decoder_shift(rc);
    return bit;
}

static inline int codec_rc_decode_adaptive(codec_rc_decoder *rc, codec_bit *model) {
    int bit = codec_rc_decode(rc, model->p1);
    if (bit >= 0) codec_bit_update(model, bit);
    return bit;
}

enum { CODEC_RC_NO_BIT = 0xFFFF }; /* as an index: there is no such bit */

/* Decode bits i .. n - 1 while they are 0. The result is that of codec_rc_decode_adaptive with
 * model[index[i]], but runs of zeros are faster. Stops before a 1, a bit that needs more bytes, and
 * an index of `most` or above that is not CODEC_RC_NO_BIT. Returns the bit where it stopped, or n.
 */
uint32_t codec_rc_decode_zeros(codec_rc_decoder *rc, codec_bit *model, const uint16_t *index,
                               uint32_t most, uint32_t i, uint32_t n);
/* Encode bits i .. n - 1, which are 0, while |value[i]| is at most `largest`. Like the above. */
uint32_t codec_rc_encode_zeros(codec_rc_encoder *rc, codec_bit *model, const uint16_t *index,
                               uint32_t most, const int16_t *value, int32_t largest, uint32_t i,
                               uint32_t n);

#endif
