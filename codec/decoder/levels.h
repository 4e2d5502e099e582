/* levels.h -- writes the result of entropy decoding as text, to compare decoders: the integers on
 * which all decoders must agree (SPEC.md, section 12). */
#ifndef CODEC_LEVELS_H
#define CODEC_LEVELS_H
#include "codec/decoder/group_reader.h"

/* Write each group of a source, as far as it goes, as a line
 *     group G passes P position Q
 * with the complete passes, and the position of the next bit, or 0 between passes; then for each
 * unit a line
 *     unit U depth D: LEVEL LEVEL ...
 * with the number of planes that are known at all positions, and the level of each position. A +
 * after a level says that one more plane is known. front: that of the source; it must match the
 * model. TAPER_ERR_CORRUPT: a chunk is damaged; the data before it and the other groups are
 * written. */
taper_status codec_levels_write(const formats_front *front, const taper_model *model,
                                const taper_source *source, uint64_t max_memory,
                                const taper_sink *to, taper_error *error);

#endif
