/* range_coder.h -- adaptive binary range coder in 64-bit integers: the same bits on every machine.
 *
 * The coder of Martin (1979) in its binary form. The state is an interval [low, low + range) of a
 * 64-bit window on the code string. A bit of probability p1 / 65536 of being 1 takes the lower
 * (range >> 16) * p1 of it when it is 1, the rest when it is 0. When range falls below 2^32 the top
 * 32 bits are settled and go out, big-endian; a later carry is added to the bytes written.
 *
 * What is special here: the decoder may be given any prefix of the string. It decodes exactly the
 * bits on which every continuation of the prefix agrees, answers CODEC_RC_STARVED at the first that
 * it cannot tell, and goes on when more bytes come. So each byte of a cut helps.
 *
 * The room codec/entropy/: bits and numbers in few bytes.
 *   range_coder              bits of given probability, and probabilities that adapt
 *   mixed_bit                the probability of a binary unit's bits
 *   fixed_log                logarithms in integers
 *   rans weights_coder       symbols of a known distribution; a model's matrices, coded by it
 *   int_matrix               matrices of integers, in the form of weights_coder */
#ifndef CODEC_RANGE_CODER_H
#define CODEC_RANGE_CODER_H
#include "formats/bytes.h"

enum { CODEC_RC_STARVED = -1 };

/* --- probabilities --- */

/* An adaptive estimate of P(bit = 1) in 1/65536. It moves by 1/(count + 1.5) of the error: it is
 * the mean of what was seen, until count is CODEC_BIT_LIMIT. */
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
    formats_buffer *out; /* borrowed; appended to. Its status tells of failures */
    size_t start;        /* where this string begins in out */
} codec_rc_encoder;

void codec_rc_encoder_init(codec_rc_encoder *rc, formats_buffer *out);
/* Out of line: settle the top 32 bits. */
void codec_rc_encoder_shift(codec_rc_encoder *rc);
/* Add a carry to the bytes written. */
void codec_rc_encoder_carry(codec_rc_encoder *rc);
/* End the string with as few bytes as tell it apart: a decoder reads zeros after the end. */
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
    /* range and code apart: compilers load neighbours that change alike as a pair, and then wait
     * for what was stored one by one */
    uint64_t range;
    uint64_t unknown; /* the true code lies in code .. code + unknown; 0 when all bytes are known */
    uint64_t code;    /* the string's window less low, with unknown bytes taken as 0 */
    const uint8_t *bytes; /* borrowed */
    size_t size, at;      /* at: bytes up to the window's end, may exceed size by what is unknown */
    int whole;            /* no more bytes will come: zeros follow */
} codec_rc_decoder;

/* bytes[size] is what is there of the string; whole: it is all of it. */
void codec_rc_decoder_init(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole);
/* The same string with more of it known: size not below the former, the former bytes unchanged. */
void codec_rc_decoder_extend(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole);
/* Out of line: move the window by 32 bits. */
void codec_rc_decoder_shift(codec_rc_decoder *rc);

/* The next bit, or CODEC_RC_STARVED, which leaves the state as it was. */
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

#endif
