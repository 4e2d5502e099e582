/* chunk_coder.h -- write it: the passes of one chunk through contexts and range coder, and back.
 *
 * A chunk is one layer (a run of passes) of one group: one string of the range coder. The group's
 * state and its adaptive probabilities go on from chunk to chunk. Within a pass positions come in
 * order; a sign follows its bit of significance at once. Bits of a binary model have no signs, and
 * mixed_bit.h prices them instead of a context. */
#ifndef CODEC_CHUNK_CODER_H
#define CODEC_CHUNK_CODER_H
#include "codec/bitplane/contexts.h"
#include "codec/entropy/mixed_bit.h"

typedef struct codec_chunk_coder {
    codec_group group;            /* what is known */
    codec_context_model contexts; /* with what probability a bit comes */
    /* of the pass that the decoder stands in */
    int predicted;         /* contexts, or mixed, are ready for it */
    int awaits_sign;       /* the position's significance is decoded, its sign not yet */
    codec_mixed_bit mixed; /* of a binary model: for all bits */
} codec_chunk_coder;

/* Bytes that a group of so many positions takes; saturates. */
uint64_t codec_chunk_coder_bytes(const codec_code_tables *tables, uint64_t positions);

/* State before the first pass, for n_images with these grids (all >= 1 x 1). On failure nothing is
 * held: TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status codec_chunk_coder_alloc(codec_chunk_coder *coder, const codec_code_tables *tables,
                                     const codec_grid *grid, size_t n_images, taper_error *error);
void codec_chunk_coder_free(codec_chunk_coder *coder); /* leaves it zeroed; NULL is fine */
/* Back to the state before the first pass. */
void codec_chunk_coder_reset(codec_chunk_coder *coder);

/* Code passes group.pass .. end - 1 and append the string to out. code: [units][group.stride]
 * signed magnitudes at the finest step (quantiser.h). bits: [n_passes] gets each pass's ideal size
 * in bits; may be NULL. */
taper_status codec_chunk_encode(codec_chunk_coder *coder, const int16_t *code, uint32_t end,
                                formats_buffer *out, double *bits);

/* Decode from rc until pass `end` is complete (1) or the known bytes are used up (0). After 0,
 * extend rc and call again, with rc and coder as they were left. */
int codec_chunk_decode(codec_chunk_coder *coder, codec_rc_decoder *rc, uint32_t end);

/* Could a string of `size` bytes hold passes group->pass .. end - 1? No bit costs less than
 * CODEC_P_MIN allows: a guard against hostile files, whose short strings would be long work. */
int codec_chunk_is_plausible(const codec_group *group, uint32_t end, uint64_t size);

#endif
