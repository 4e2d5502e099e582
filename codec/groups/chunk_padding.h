/* chunk_padding.h -- what is appended to a complete chunk that is marked as cut.
 *
 * A container marks all last chunks behind the first cut one. Readers take these for prefixes, and
 * decode bits only that no continuation could change. So a complete string goes on as it is meant:
 * with CODEC_STRING_PADDING zeros, the width of the range coder's window and what the string may
 * omit at its end. In a chunk of several strips they are one more segment (entropy/interleave.h);
 * zeros alone would be an illegal segment there, which is ignored. */
#ifndef CODEC_CHUNK_PADDING_H
#define CODEC_CHUNK_PADDING_H
#include "codec/bitplane/strips.h"
#include "formats/container.h"

enum { CODEC_STRING_PADDING = 8 + CODEC_CHUNK_TRIMMED };

/* The bytes to append to a chunk of so many strips, at least 1. */
uint64_t codec_chunk_padding_bytes(uint32_t strips);
/* Copy n of these bytes, from the byte `from` on. from + n <= codec_chunk_padding_bytes(strips). */
void codec_chunk_padding_copy(uint32_t strips, uint64_t from, void *to, size_t n);

/* The number of strips of group g of a front, with windows of this size. Larger windows give as
 * many or fewer. */
uint32_t codec_chunk_strips(const formats_front *front, uint32_t g, codec_window window);

#endif
