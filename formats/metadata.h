/* metadata.h -- what JPEG and PNG files hold besides pixels: which way up the picture is, whether
 * it has a colour profile, what else there is, where the file ends.
 *
 * The files are walked here, without libjpeg and libpng. Safe on hostile input: time is linear in
 * n, and what is damaged counts as not there. */
#ifndef FORMATS_METADATA_H
#define FORMATS_METADATA_H
#include "formats/status.h"

/* Which way up a picture is. EXIF's word counts (of a JPEG, or a PNG's chunk eXIf), else that of
 * EXIF in a PNG's text chunk "Raw profile type exif" or "APP1", else that of XMP. */
typedef struct formats_orientation {
    uint8_t how;     /* 1 to 8 as in EXIF: see formats_image_orient; 1 where nothing is said */
    uint8_t is_left; /* 1: something else is said, too, or a source of it is damaged */
} formats_orientation;
formats_orientation formats_jpeg_orientation(const void *bytes, size_t n);
/* TAPER_ERR_NOMEM */
taper_status formats_png_orientation(const void *bytes, size_t n, formats_orientation *out,
                                     taper_error *error);

/* 1 when there is an ICC profile other than sRGB's (icc.h). One of more than 64 KiB counts as
 * another. */
int formats_jpeg_has_profile(const void *bytes, size_t n);
int formats_png_has_profile(const void *bytes, size_t n);

/* What the file holds that a set does not take over, as bits. */
enum {
    FORMATS_LOST_EXIF = 1,    /* EXIF or XMP: the capture date, the camera, the place */
    FORMATS_LOST_PICTURES = 2 /* pictures after the first: of an animated PNG, or of a JPEG that
                                 says so (MPF) */
};
unsigned formats_jpeg_losses(const void *bytes, size_t n);
unsigned formats_png_losses(const void *bytes, size_t n);

/* Where the image at the front of n bytes ends; n when its end is not there, and for a JPEG that is
 * the first of several pictures of one shot (a depth map, say). */
size_t formats_jpeg_end(const void *bytes, size_t n);
size_t formats_png_end(const void *bytes, size_t n);
/* Where the image data of a PNG end: behind the last IDAT chunk of the first row of them; 0 when
 * there is none or that one is cut. */
size_t formats_png_data_end(const void *bytes, size_t n);

#endif
