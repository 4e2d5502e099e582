/* paging.h -- front matter in one piece to a root and leaves, and back. For container.c only. */
#ifndef FORMATS_PAGING_H
#define FORMATS_PAGING_H
#include "formats/root.h"

/* The contents of three sections. */
typedef struct formats_paged {
    formats_buffer root; /* DIRE, not packed */
    formats_buffer leaves, pages;
} formats_paged;

/* Make the contents. A leaf ends with the first group behind its first `each` images where a block
 * of checksums ends and, in every rate class, all images so far are in groups so far. *out is the
 * caller's to free, also on failure. out->root is empty: no leaf but one can be made.
 * If the root, packed, has more than FORMATS_ROOT_BYTES, leaves are made larger, as long as that
 * helps. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_paging_split(const formats_front *f, uint32_t each, formats_account *account,
                                  formats_paged *out);
void formats_paged_free(formats_paged *paged);

/* Fill in what leaves have: f was filled by formats_root_read, and becomes a front of the whole
 * container. leaves: the content of section LEAF, of the size that the root says. Memory is charged
 * to f's account. TAPER_ERR_CORRUPT: leaves are damaged, or do not follow each other;
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. On failure memory stays in *f. */
taper_status formats_paging_join(const formats_root *root, formats_front *f, const uint8_t *leaves,
                                 const taper_limits *limits, taper_error *error);

#endif
