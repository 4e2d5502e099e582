/* skip.h -- what is named or met and gives no image. */
#ifndef FORMATS_SKIP_H
#define FORMATS_SKIP_H
#include "formats/status.h"

/* What becomes of something that gives no image. */
typedef enum formats_skip {
    FORMATS_SKIP_FAILED,   /* it was named, or looks like an image, and cannot be used */
    FORMATS_SKIP_NO_IMAGE, /* met in a folder, and no image by content and name: no failure */
    FORMATS_SKIP_LINK,     /* a link to a folder, met in a folder and not entered: no failure */
    FORMATS_SKIP_HIDDEN    /* a hidden file or folder met in a folder, or one that programs keep */
} formats_skip;

/* Called once for each of these; the set goes on without it. why of TAPER_ERR_UNSUPPORTED is the
 * same sentence for all of a kind ("WebP is not read: ..."), for counting. May be NULL. */
typedef void formats_imageset_skip_fn(void *user, formats_skip what, const char *path,
                                      const taper_error *why);

#endif
