/* skip.h -- reports files and folders that give no image. */
#ifndef FORMATS_SKIP_H
#define FORMATS_SKIP_H
#include "formats/status.h"

/* Why a file or folder gives no image. Only FORMATS_SKIP_FAILED is a failure. */
typedef enum formats_skip {
    FORMATS_SKIP_FAILED,   /* the caller named it, or it looks like an image; it cannot be used */
    FORMATS_SKIP_NO_IMAGE, /* found in a folder; not an image by content and name */
    FORMATS_SKIP_LINK,     /* found in a folder; a link to a folder, not entered */
    FORMATS_SKIP_HIDDEN    /* found in a folder; hidden, or a system folder (folder_walk.h) */
} formats_skip;

/* Called once for each; the set continues without it. With TAPER_ERR_UNSUPPORTED, why->text is the
 * same for all files of a format ("WebP is not read: ..."), so that a caller can count. May be
 * NULL. */
typedef void formats_imageset_skip_fn(void *user, formats_skip what, const char *path,
                                      const taper_error *why);

#endif
