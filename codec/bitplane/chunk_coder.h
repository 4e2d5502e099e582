/* chunk_coder.h -- encoding and decoding the passes of a chunk, with contexts and the range coder.
 *
 * A chunk is one layer (a run of passes) of one group: one string of the range coder. The group's
 * state and its adaptive probabilities continue from chunk to chunk. Within a pass positions
 * ascend; a sign directly follows its significance bit. The bits of a binary model have no signs,
 * and their probabilities come from mixed_bit.h instead of contexts. */
#ifndef CODEC_CHUNK_CODER_H
#define CODEC_CHUNK_CODER_H
#include "codec/bitplane/contexts.h"
#include "codec/entropy/mixed_bit.h"

typedef struct codec_chunk_coder {
    codec_group group; /* its blocks are those of codec_chunk_coder_alloc */
    codec_context_model contexts;
    /* Values from unit to unit of the codes that are encoded; group.stride after allocation. */
    size_t code_stride;
    /* The decoder's state within a pass: */
    int predicted;         /* contexts, or mixed, are prepared for the pass */
    int awaits_sign;       /* the significance of the position is decoded, its sign is not */
    int flagged;           /* the flag of the position's block is decoded, and is 1 */
    codec_mixed_bit mixed; /* of a binary model: predicts all bits */
} codec_chunk_coder;

/* Lay out the state, as codec_group_lay_out. *coder begins zeroed. */
void codec_chunk_coder_lay_out(codec_chunk_coder *coder, const codec_code_tables *tables,
                               const codec_group_shape *shape, codec_group_layout *at);
/* Set the state before the first pass, once it is laid out in memory. */
void codec_chunk_coder_begin(codec_chunk_coder *coder, const codec_grid *grid, size_t n_images);
/* Forget what only coding needs. The group can then be read, and no more. */
void codec_chunk_coder_end_coding(codec_chunk_coder *coder);

/* Lay out and begin in blocks of its own, for n_images with these grids (all >= 1 x 1).
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: *coder owns nothing. */
taper_status codec_chunk_coder_alloc(codec_chunk_coder *coder, const codec_code_tables *tables,
                                     const codec_grid *grid, size_t n_images, taper_error *error);
/* Leaves it zeroed. NULL is allowed. */
void codec_chunk_coder_free(codec_chunk_coder *coder);
/* Return to the state before the first pass. */
void codec_chunk_coder_reset(codec_chunk_coder *coder);

/* Encode passes group.pass .. end - 1 and append the string to out. code: [units][code_stride]
 * signed magnitudes at the finest step (quantiser.h). bits: [n_passes] is set to the ideal size of
 * each pass in bits; may be NULL. */
taper_status codec_chunk_encode(codec_chunk_coder *coder, const int16_t *code, uint32_t end,
                                formats_buffer *out, double *bits);
/* The same for a part of a string: the caller begins and finishes it. */
taper_status codec_chunk_encode_passes(codec_chunk_coder *coder, const int16_t *code, uint32_t end,
                                       codec_rc_encoder *rc, double *bits);

/* Decode from rc. Returns 1 once the passes before `end` are complete, or 0 if all available bytes
 * are used. After 0, append bytes to rc and call again with the same rc and coder. */
int codec_chunk_decode(codec_chunk_coder *coder, codec_rc_decoder *rc, uint32_t end);

/* How many bytes passes group->pass .. end - 1 take at least, in their string or left off at its
 * end. CODEC_P_MIN gives the minimum size of a bit. This protects against hostile files whose short
 * strings take long to decode. */
enum {
    CODEC_CHUNK_TRIMMED = 16,         /* bytes that may be left off */
    CODEC_CHUNK_BITS_PER_BYTE = 11500 /* more bits than a byte can carry */
};
uint64_t codec_chunk_least_bytes(const codec_group *group, uint32_t end);

#endif
