/* thumbnail.h -- small pictures of the images of a set, for pages. */
#ifndef CLI_THUMBNAIL_H
#define CLI_THUMBNAIL_H
#include "cli/search/code_set.h"

/* Image i, scaled down so that its longer side has at most 96 pixels. Pixels are the caller's to
 * free; NULL, with the reason in *why (may be NULL), if it cannot be read. TAPER_ERR_NOMEM. */
taper_status cli_thumbnail_read(const cli_code_set *set, size_t i, taper_image *out,
                                taper_error *why);

#endif
