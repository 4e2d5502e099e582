/* set_part.h -- section `part` of a container: which part of a set it has, and digests of what it
 * was made of (taper_part in taper_types.h). Containers that are made of others have none. */
#ifndef FORMATS_SET_PART_H
#define FORMATS_SET_PART_H
#include "formats/front.h"

enum { FORMATS_MOST_PARTS = 1 << 20 };                  /* TAPER_MOST_PARTS */
static const uint64_t FORMATS_MOST_SET = 1099511627776; /* TAPER_MOST_SET */

/* Nonzero if the numbers of a part are in range, and it has as many images of the set as `stored`,
 * further names included, and those that were left out. */
int formats_set_part_is_legal(const taper_part *part, uint64_t stored);
/* Read the content of the section into f->part. TAPER_ERR_TRUNCATED: it ends early. Whether the
 * numbers are legal is not tested. */
taper_status formats_set_part_read(formats_front *f, formats_cursor *in, taper_error *error);
void formats_set_part_write(const formats_front *f, formats_buffer *out); /* f->part.parts: not 0 */
/* The image of the set with which a part begins. Both: as in taper_part, in range. */
uint64_t formats_set_part_first(uint64_t images, uint32_t parts, uint32_t part);
/* The images of the set that are the part's; 0 if its numbers are out of range. */
uint64_t formats_set_part_count(const taper_part *part);

#endif
