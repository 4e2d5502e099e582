/* index_set_part.c -- see index_set_part.h. */
#include "formats/index_set_part.h"
#include "formats/set_part.h"
#include <string.h>

enum { SUMMED = FORMATS_INDEX_PART_BYTES - 4, PART_BITS = 20 };

_Static_assert(TAPER_MOST_PARTS == (uint32_t)1 << PART_BITS, "the number of a part fits");
_Static_assert(TAPER_MOST_SET <= UINT64_MAX >> PART_BITS, "the images fit beside it");

void formats_index_part_put(const taper_part *part, uint8_t to[FORMATS_INDEX_PART_BYTES]) {
    formats_set_u32le(to + 4, part->parts);
    formats_set_u64le(to + 8, part->images << PART_BITS | part->part);
    formats_set_u64le(to + 16, part->set_digest);
    formats_set_u64le(to + 24, part->how_digest);
    formats_set_u64le(to + 32, part->inputs_digest);
    formats_set_u32le(to, formats_crc32c(0, to + 4, SUMMED));
}

static int is_empty(const uint8_t *from) {
    static const uint8_t zeros[FORMATS_INDEX_PART_BYTES];
    return !memcmp(from, zeros, sizeof zeros);
}

taper_status formats_index_part_get(const uint8_t from[FORMATS_INDEX_PART_BYTES], uint64_t codes,
                                    taper_part *part, taper_error *error) {
    const uint64_t both = formats_get_u64le(from + 8);
    *part = (taper_part){.size = sizeof *part};
    if (is_empty(from)) return TAPER_OK;
    if (formats_get_u32le(from) != formats_crc32c(0, from + 4, SUMMED))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index is damaged: the checksum of the record of its part does not "
                            "hold; copy the file again, or make it again");
    part->parts = formats_get_u32le(from + 4);
    part->part = both & (TAPER_MOST_PARTS - 1);
    part->images = both >> PART_BITS;
    part->set_digest = formats_get_u64le(from + 16);
    part->how_digest = formats_get_u64le(from + 24);
    part->inputs_digest = formats_get_u64le(from + 32);
    const uint64_t images = formats_set_part_count(part);
    part->left_out = images - codes;
    if (codes <= images && formats_set_part_is_legal(part, codes)) return TAPER_OK;
    *part = (taper_part){.size = sizeof *part};
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the index says that it is a part of a set that cannot be; make it again");
}
