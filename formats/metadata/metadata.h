/* metadata.h -- metadata of JPEG and PNG files: orientation, colour profile, data that a set does
 * not keep, and where the image ends in the file.
 *
 * Reads the files without libjpeg and libpng. Safe on hostile input: time is linear in n, and
 * damaged metadata counts as missing. */
#ifndef FORMATS_METADATA_H
#define FORMATS_METADATA_H
#include "formats/status.h"

/* Orientation of a picture. The first of these sources that gives one is used: EXIF (in a PNG: the
 * chunk eXIf), EXIF in a PNG text chunk "Raw profile type exif" or "APP1", XMP. */
typedef struct formats_orientation {
    uint8_t how;          /* 1 to 8 as in EXIF: see formats_image_orient; 1 if none is given */
    uint8_t is_uncertain; /* 1: sources disagree, or one is damaged */
} formats_orientation;
formats_orientation formats_jpeg_orientation(const void *bytes, size_t n);
/* The same of a PNG. TAPER_ERR_NOMEM. */
taper_status formats_png_orientation(const void *bytes, size_t n, formats_orientation *out,
                                     taper_error *error);

/* 1 when there is an ICC profile that does not mean sRGB (icc.h); 0 for one of CMYK, by which
 * decoding converts. Profiles above 64 KiB count as
 * such. */
int formats_jpeg_has_profile(const void *bytes, size_t n);
int formats_png_has_profile(const void *bytes, size_t n);

/* Bits for data of a file that a set does not keep. */
enum {
    FORMATS_LOST_EXIF = 1, /* EXIF or XMP: capture date, camera, location */
    /* Pictures after the first of a JPEG with several (MPF). */
    FORMATS_LOST_PICTURES = 2
};
unsigned formats_jpeg_losses(const void *bytes, size_t n);
unsigned formats_png_losses(const void *bytes, size_t n);

/* Frames of an animated PNG, as it says itself; 0: it is not animated. */
uint32_t formats_png_frames(const void *bytes, size_t n);
/* 1 if a PNG that begins with these n bytes may be animated. */
int formats_png_may_be_animated(const void *front, size_t n);

/* Offset of the end of the image that begins at bytes. n if the end is missing, and for a JPEG that
 * is followed by further pictures of one shot, such as a depth map. */
size_t formats_jpeg_end(const void *bytes, size_t n);
size_t formats_png_end(const void *bytes, size_t n);
/* Offset after the last of the first consecutive IDAT chunks of a PNG. 0: there is none, or it is
 * incomplete. */
size_t formats_png_data_end(const void *bytes, size_t n);

#endif
