/* merge_names.h -- names and classes of containers that are merged. shard: [n] their front matter.
 */
#ifndef FORMATS_MERGE_NAMES_H
#define FORMATS_MERGE_NAMES_H
#include "formats/front.h"

/* Make the further names of the result, of its images; names and labels are made next.
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status formats_merge_further_names(const formats_front *shard, size_t n,
                                         formats_front *result, taper_error *error);

/* Make names and name_at of the result, if any shard has names, and the texts of further names. An
 * image without a name gets the name that decoding would give it, by number. A name that an earlier
 * shard also has is prefixed with a new folder: shard-2/ and so on. If that name would be too long,
 * a number replaces it in that folder. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status formats_merge_names(const formats_front *shard, size_t n, formats_front *result,
                                 taper_error *error);

/* Make labels and classes of the result, if any shard has labels. Classes with equal names become
 * one; classes are numbered in the order of their first occurrence. TAPER_ERR_NOMEM,
 * TAPER_ERR_LIMIT. */
taper_status formats_merge_labels(const formats_front *shard, size_t n, formats_front *result,
                                  taper_error *error);

#endif
