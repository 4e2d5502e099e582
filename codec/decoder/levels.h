/* levels.h -- what the entropy decoder knows, as text: the integers in which two decoders must
 * agree (SPEC.md, section 12), for comparing them. */
#ifndef CODEC_LEVELS_H
#define CODEC_LEVELS_H
#include "codec/decoder/group_reader.h"

/* Of each group of a source, as far as it goes, a line
 *     group G passes P position Q
 * with the complete passes, and the position whose bit is the next one, 0 where none is waited for;
 * then for each unit
 *     unit U depth D: LEVEL LEVEL ...
 * with the planes known of all positions, and the level of each, followed by + where a plane more
 * is known. front: the source's, which the model fits. TAPER_ERR_CORRUPT: a chunk is damaged; what
 * lies before it has been written, and so are the other groups. */
taper_status codec_levels_write(const formats_front *front, const taper_model *model,
                                const taper_source *source, uint64_t max_memory,
                                const taper_sink *to, taper_error *error);

#endif
