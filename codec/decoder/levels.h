/* levels.h -- writes the result of entropy decoding as text, to compare decoders: the integers on
 * which all decoders must agree (SPEC.md, section 12). */
#ifndef CODEC_LEVELS_H
#define CODEC_LEVELS_H
#include "codec/taper.h"

/* Write each group of a container with a model, cut to `cut` bytes, as a line
 *     group G passes P position Q
 * with the complete passes, and the position of the next bit, or 0 between passes; then for each
 * unit a line
 *     unit U depth D: LEVEL LEVEL ...
 * with the number of planes that are known at all positions, and the level of each position. A +
 * after a level says that one more plane is known. TAPER_ERR_CORRUPT: a chunk is damaged; the data
 * before it and the other groups are written. */
taper_status codec_levels_write(const taper_container *container, uint64_t cut,
                                const taper_sink *to, taper_error *error);

#endif
