/* synthesis.h -- the linear path of a network in integers: the sums of its rows that make windows
 * of codes. The same pixels on every machine.
 *
 *     coefficient X(u) = x(u) 2^bits(u),    weight W(u, i) = round(G(u, i) 2^(SUM_BITS - bits(u)))
 *     sum(i) = round((mean(i) - 128) 2^SUM_BITS) + sum over u of X(u) W(u, i), modulo 2^32
 *
 * A picture has values of 1/16 of a level above 128 in 16 bits (picture.h):
 *     value(i) = clamp((sum(i) + 2^15) >> 16, -32768 .. 32767)
 *
 * bits(u) is chosen so that the largest weight of a unit has 12 bits, and its largest coefficient
 * 15 (codec_synthesis_make). A coefficient may still have more than 16 bits: terms.h. */
#ifndef CODEC_SYNTHESIS_H
#define CODEC_SYNTHESIS_H
#include "codec/backend/sparse_sum.h"
#include "codec/transform/network.h"

enum { CODEC_SYNTHESIS_SUM_BITS = 20, CODEC_SYNTHESIS_VALUE_BITS = 4 };

typedef struct codec_synthesis {
    uint32_t units, inputs, lanes; /* lanes: inputs, rounded up (sparse_sum.h) */
    uint32_t known;                /* units from here on have zeros */
    int16_t *weight;               /* [(units + 1) / 2][lanes][2]; NULL: there is none */
    int32_t *mean;                 /* [lanes] (mean - 128) 2^SUM_BITS */
    int8_t *bits;                  /* [units] -20 .. 20 */
} codec_synthesis;

/* Make it of a network without a decoder stack. top: [units] the largest |x| of each unit,
 * roughly; only its exponent counts. is_missing: [units] those whose rows are zeros; NULL: none.
 * TAPER_ERR_ARG: the network has no linear path, or a stack. TAPER_ERR_NOMEM. On failure *out is
 * zeroed. */
taper_status codec_synthesis_make(const codec_network *network, const float *top,
                                  const uint8_t *is_missing, codec_synthesis *out);
/* Leaves it zeroed. Safe on a zeroed struct. */
void codec_synthesis_free(codec_synthesis *synthesis);

/* value[count] of sums of `count` lanes. */
void codec_synthesis_values(const int32_t *sum, uint32_t count, int16_t *value);

#endif
