/* thumbnail.h -- an image of a set as a small picture for a page. */
#ifndef CLI_THUMBNAIL_H
#define CLI_THUMBNAIL_H
#include "cli/search/code_set.h"

/* Image i of the set, its longer side at most 96 pixels; without pixels where it cannot be read,
 * and why (NULL is fine). Pixels are the caller's. TAPER_ERR_NOMEM. */
taper_status cli_thumbnail_read(const cli_code_set *set, size_t i, taper_image *out,
                                taper_error *why);

#endif
