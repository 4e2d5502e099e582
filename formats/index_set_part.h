/* index_set_part.h -- the record of an index that says which part of a set it has (taper_part in
 * taper_types.h). It lies at a fixed place behind the weights, which readers from before it take
 * for padding: SPEC.md 15.9. */
#ifndef FORMATS_INDEX_SET_PART_H
#define FORMATS_INDEX_SET_PART_H
#include "formats/bytes.h"

enum {
    FORMATS_INDEX_PART_AT = 88, /* in the file: weights end before, shares begin behind it */
    FORMATS_INDEX_PART_BYTES = 40
};

/* Write the record of a legal part; left_out is not stored. */
void formats_index_part_put(const taper_part *part, uint8_t to[FORMATS_INDEX_PART_BYTES]);
/* Read the record of an index of so many codes. All 0: there is none, and part->parts is 0.
 * left_out: the images of the part that have no code. TAPER_ERR_CORRUPT: the checksum does not
 * hold, or a number is out of range. */
taper_status formats_index_part_get(const uint8_t from[FORMATS_INDEX_PART_BYTES], uint64_t codes,
                                    taper_part *part, taper_error *error);

#endif
