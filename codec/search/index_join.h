/* index_join.h -- several open indexes as one, without a copy of their codes: what
 * taper_index_join makes, for the source files that read and search an index.
 *
 * The images of a joined index are those of its parts, one part after the other. Its places have
 * two orders: by part, and sorted by code as in the index that taper_index_merge writes. The sorted
 * order is made when it is first asked for. */
#ifndef CODEC_INDEX_JOIN_H
#define CODEC_INDEX_JOIN_H
#include "codec/search/index.h"

/* The sorted order of a joined index; it is freed with the index. Any thread may call this.
 * TAPER_ERR_LIMIT: max_memory is too small for 4 bytes an image. TAPER_ERR_NOMEM. */
taper_status codec_index_join_order(const taper_index *joined, const uint32_t **order,
                                    taper_error *error);

/* codec_index_neighbourhood of a joined index, whose order this is: O(log(bits) log n). code: room
 * for [words]. */
codec_neighbourhood codec_index_join_neighbourhood(const taper_index *joined, const uint32_t *order,
                                                   const uint64_t *query, size_t least,
                                                   size_t deepest, uint64_t *code);

#endif
