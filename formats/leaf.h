/* leaf.h -- a leaf of a paged container: the front matter of consecutive images and groups. With
 * the root (root.h) it can be read alone.
 *
 * A leaf has two or three parts (packed.h): its directory, the names of its images, their labels.
 * Its images are those of its groups, in every rate class, and no checksum is over chunks of two
 * leaves. */
#ifndef FORMATS_LEAF_H
#define FORMATS_LEAF_H
#include "formats/root.h"

/* Read leaf k from its bytes, of the size that the root says. shared: the front that the root
 * filled. On success *out has the members of a front
 * for the images and groups of the leaf, numbered from 0; it is the caller's to free. Class names,
 * codes for search and models stay in `shared`. limits->max_memory counts for *out alone.
 * TAPER_ERR_CORRUPT: the checksum is wrong, or the leaf does not fit the root; the text names the
 * leaf. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_leaf_read(const formats_root *root, const formats_front *shared, uint32_t k,
                               const uint8_t *bytes, const taper_limits *limits, formats_front *out,
                               taper_error *error);

/* Append a leaf to out. f: a front as formats_leaf_read makes it, except that layer_at is from the
 * start of each layer. */
taper_status formats_leaf_write(const formats_front *f, formats_buffer *out);

/* The image of the leaf, from 0, that has this name: the first of several. UINT32_MAX: none. */
uint32_t formats_leaf_find(const formats_front *leaf, const char *name);

#endif
