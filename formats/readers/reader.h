/* reader.h -- image files that are read by libraries loaded when they are first met.
 *
 * A reader opens the bytes of a file, says how many frames or pages it has, and decodes one of
 * them. Safe on hostile input as far as the library is: sizes are checked against the limits before
 * the library decodes, and its memory is limited where it allows that. Threads may use different
 * pictures at once.
 *
 * Directory formats/readers/: image files by libraries that are loaded late. Not part of the
 * library.
 *
 *     reader                        calls a reader
 *     find_reader                   finds the reader of a file
 *     webp gif tiff avif heic jxl   one reader each
 *     vp8_noise, av1_noise          the error that a lossy WebP or AVIF already has
 *     bmp                           BMP, without a library
 *     apng                          frames of animated PNG, by libpng
 *     archive                       members of archives, by libarchive
 *     spool                         a temporary file for them
 *     samples                       conversions of decoded samples */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H
#include "formats/late/late_library.h"
#include "formats/metadata/picture_metadata.h"

typedef struct formats_reader formats_reader;

/* A file while it is being read. */
typedef struct formats_picture {
    const formats_reader *reader;
    const uint8_t *bytes; /* [size], borrowed */
    size_t size;
    taper_limits limits;
    uint32_t frames; /* frames of an animation, or pages: at least 1 */
    void *state;     /* the reader's */
} formats_picture;

struct formats_reader {
    const char *name;                             /* "WebP" */
    const formats_late_library *const *libraries; /* NULL-terminated; NULL: not built in */
    const char *package;                          /* to build with: "libwebp-dev" */
    int is_sequential;                            /* a frame is decoded after those before it */
    /* For formats_picture_open: check the file, set frames and state. On failure `close` follows.
     */
    taper_status (*open)(formats_picture *p, taper_error *error);
    /* For formats_picture_read; metadata is not NULL. On failure out->pixels may be set. */
    taper_status (*read)(formats_picture *p, uint32_t frame, taper_image *out,
                         formats_metadata *metadata, taper_error *error);
    void (*close)(formats_picture *p); /* frees the state, which may be NULL */
};

extern const formats_reader formats_webp_reader, formats_gif_reader, formats_tiff_reader,
    formats_bmp_reader, formats_apng_reader, formats_avif_reader, formats_heic_reader,
    formats_jxl_reader;

/* Load the libraries of a reader. Call before formats_picture_open. TAPER_ERR_UNSUPPORTED: one is
 * missing, on this machine or when taper was built; the text, the same for all files of the format,
 * names the package. */
taper_status formats_reader_load(const formats_reader *reader, taper_error *error);

/* Open the bytes of a file, which must outlive the picture. limits may be NULL. On failure *out
 * needs no close. TAPER_ERR_CORRUPT, TAPER_ERR_TRUNCATED: damaged. TAPER_ERR_LIMIT: above a limit,
 * before the memory is taken. TAPER_ERR_UNSUPPORTED: a kind that the library does not decode. */
taper_status formats_picture_open(formats_picture *out, const formats_reader *reader,
                                  const void *bytes, size_t size, const taper_limits *limits,
                                  taper_error *error);

/* Decode a frame or page, 0..frames - 1, upright, with alpha where it is not opaque everywhere, and
 * 16 bits where the file has more than 8. Reading frames in ascending order takes time linear in
 * their number. metadata: what the library has, the caller's to free; zeroed on failure. NULL: not
 * wanted. On failure out->pixels is NULL. */
taper_status formats_picture_read(formats_picture *picture, uint32_t frame, taper_image *out,
                                  formats_metadata *metadata, taper_error *error);
void formats_picture_close(formats_picture *picture); /* a zeroed one is fine */

#endif
