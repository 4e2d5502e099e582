/* foreign.h -- formats that taper recognises but does not read: image formats, with the command
 * that converts them, archives, documents, videos, and files of taper. Recognised by the first
 * bytes or by the extension. */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H
#include <stddef.h>
#include <stdint.h>

/* The command on Debian 12 that converts CMYK and wide colours to sRGB, by the file's profile. */
#define FORMATS_TO_SRGB                                                            \
    "convert IN -profile /usr/share/color/icc/sRGB.icc -colorspace sRGB OUT.png (" \
    "packages imagemagick and icc-profiles-free)"

enum { FORMATS_FOREIGN_FRONT = 264 }; /* bytes from the start of a file that are examined */

/* One sentence that says what the file is and what to do, the same for all files of a format:
 * "SVG is not read: ..."; NULL for other files. front: the first n bytes of the file. path may be
 * NULL; its extension tells a camera's raw file. *is_other: 1 for what is no image: an archive, a
 * document, a video. */
const char *formats_foreign_by_content(const uint8_t *front, size_t n, const char *path,
                                       int *is_other);
/* The same by the extension, without regard to case; image formats only. */
const char *formats_foreign_by_name(const char *path);
/* 1 if the extension is that of a camera's raw file, whose first bytes may be those of a TIFF. */
int formats_foreign_is_raw(const char *path);

#endif
