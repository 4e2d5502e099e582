/* chunk_coder.h -- write it: the passes of one chunk through contexts and range coder, and back.
 *
 * A chunk is one layer (a run of passes) of one group, one range coder string. The group's state
 * and its adaptive probabilities go on from chunk to chunk. Within a pass the positions that go in
 * it come in order; a bit of significance is followed at once by its sign. Bits of a binary model
 * have none, and are priced by group->mixed instead of a context. */
#ifndef CODEC_CHUNK_CODER_H
#define CODEC_CHUNK_CODER_H
#include "codec/bitplane/contexts.h"

/* Code passes group->pass .. end - 1 and append the string to out. code: [units][group->stride]
 * signed magnitudes at the finest step (codec_quantise). bits, where not NULL: [n_passes], gets
 * each pass's ideal size in bits. */
taper_status codec_chunk_encode(codec_group *group, const int16_t *code, uint32_t end,
                                formats_buffer *out, double *bits);

/* Decode from rc until pass `end` is complete (returns 1) or the known bytes are used up (0). After
 * 0, extend rc and call again, with rc and group as they were left. */
int codec_chunk_decode(codec_group *group, codec_rc_decoder *rc, uint32_t end);

/* Could a string of `size` bytes hold passes group->pass .. end - 1? No bit costs less than
 * CODEC_P_MIN allows, so a short string cannot be long work: a guard against hostile files. */
int codec_chunk_is_plausible(const codec_group *group, uint32_t end, uint64_t size);

#endif
