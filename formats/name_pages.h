/* name_pages.h -- the section `find` of a paged container whose names do not ascend: pages that say
 * which leaves may have a name, by its hash (formats_root_hash).
 *
 * A page has one part (packed.h): the number of its entries, a hash and a leaf for each, without
 * repetition, by ascending hash and then leaf. A page without entries has no bytes. Two names may
 * have one hash: the leaf itself tells. */
#ifndef FORMATS_NAME_PAGES_H
#define FORMATS_NAME_PAGES_H
#include "formats/root.h"

/* Append the pages of f's names to out, and set hash_bits, page_bits, page_at and page_crc of the
 * root, whose leaves are set. A page has about `each` entries. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_name_pages_write(const formats_front *f, formats_root *root, uint32_t each,
                                      formats_buffer *out);

/* The leaves that page p, of the size that the root says, names for a hash: allocated, [*n], the
 * caller's to free; *n 0: NULL. f: charged with memory meanwhile.
 * TAPER_ERR_CORRUPT: the page is damaged; TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_name_page_find(const formats_root *root, formats_front *f, uint32_t p,
                                    const uint8_t *bytes, uint32_t hash, uint32_t **leaves,
                                    uint32_t *n, taper_error *error);

#endif
