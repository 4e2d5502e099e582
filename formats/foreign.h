/* foreign.h -- files that are not read, known by name: image formats, with the way to convert them,
 * and archives. By their first bytes, or, where these tell nothing, by the ending of the name. */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H
#include <stddef.h>
#include <stdint.h>

/* Debian 12's way to bring CMYK and wide colours to sRGB, by the file's profile if it has one. */
#define FORMATS_TO_SRGB                                                            \
    "convert IN -profile /usr/share/color/icc/sRGB.icc -colorspace sRGB OUT.png (" \
    "packages imagemagick and icc-profiles-free)"

enum { FORMATS_FOREIGN_FRONT = 264 }; /* as many first bytes are looked at */

/* What the file is and what to do, as one sentence, the same for all files of a kind: "WebP is not
 * read: ..."; NULL when it is none of these. front has n first bytes of the file. path may be NULL;
 * its ending tells a camera's raw file, which is a TIFF by content. *is_archive: 1 for an archive,
 * which is no image. */
const char *formats_foreign_by_content(const uint8_t *front, size_t n, const char *path,
                                       int *is_archive);
/* Images alone; upper and lower case are one. */
const char *formats_foreign_by_name(const char *path);

#endif
