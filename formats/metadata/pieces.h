/* pieces.h -- the pieces of an image file: segments of a JPEG, chunks of a PNG. Safe on hostile
 * input: time is linear in the bytes. */
#ifndef FORMATS_PIECES_H
#define FORMATS_PIECES_H
#include <stddef.h>
#include <stdint.h>

/* A JPEG segment or a PNG chunk. */
typedef struct formats_piece {
    unsigned marker;   /* JPEG */
    const char *type;  /* PNG: 4 characters */
    const uint8_t *at; /* its data */
    size_t size;
} formats_piece;

typedef struct formats_walk {
    const uint8_t *bytes;
    size_t n, at; /* at: offset after the last piece */
} formats_walk;

/* Names before EXIF and XMP in a JPEG's segment APP1. */
enum { FORMATS_EXIF_NAME = 6, FORMATS_XMP_NAME = 29 };
extern const char formats_exif_name[FORMATS_EXIF_NAME], formats_xmp_name[FORMATS_XMP_NAME];
int formats_begins(const uint8_t *bytes, size_t n, const char *name, size_t name_size);

/* --- JPEG --- */

enum {
    FORMATS_END_OF_IMAGE = 0xD9,
    FORMATS_START_OF_SCAN = 0xDA,
    FORMATS_APP0 = 0xE0,
    FORMATS_APP1 = 0xE1,
    FORMATS_APP2 = 0xE2
};

formats_walk formats_walk_jpeg(const void *bytes, size_t n);
/* The next segment, or the end of the image. Skips bytes between segments, such as scan data. 0 at
 * the end of the bytes. */
int formats_next_segment(formats_walk *w, formats_piece *out);
/* Find a segment of an application before the first scan, and skip its name. */
int formats_find_segment(formats_walk *w, unsigned marker, const char *name, size_t name_size,
                         formats_piece *out);

/* --- PNG --- */

formats_walk formats_walk_png(const void *bytes, size_t n);
/* The next chunk; 0 at the end of the bytes. */
int formats_next_chunk(formats_walk *w, formats_piece *out);
int formats_is_type(const formats_piece *chunk, const char *type);
int formats_is_sum_right(const formats_piece *chunk);

/* Text chunks that may have EXIF or XMP, by their keywords. */
typedef enum formats_text_kind {
    FORMATS_TEXT_OTHER,
    FORMATS_TEXT_PROFILE,     /* EXIF, or the data of a segment APP1 */
    FORMATS_TEXT_XMP_PROFILE, /* XMP, in hexadecimal digits like the one before */
    FORMATS_TEXT_XMP
} formats_text_kind;
formats_text_kind formats_kind_of_text(const formats_piece *chunk);

#endif
