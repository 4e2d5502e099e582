/* merge_names.h -- names and classes of containers that are joined, shard 0 and on. */
#ifndef FORMATS_MERGE_NAMES_H
#define FORMATS_MERGE_NAMES_H
#include "formats/front.h"

/* Names of all images, if a shard has names. An image without one gets its number's, as decoding
 * names it. A name that an earlier shard has, too, goes into a folder, shard-2/ and so on, that no
 * name is in yet; where that would be too long to be legal, it is its number there. names and
 * name_at of the result are made here. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status formats_merge_names(const formats_front *shard, size_t n, formats_front *result,
                               taper_error *error);

/* Labels of all images, if a shard has labels: classes are joined by their names, in the order in
 * which they come up, and labels numbered anew. label and the classes of the result are made here.
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status formats_merge_labels(const formats_front *shard, size_t n, formats_front *result,
                                taper_error *error);

#endif
