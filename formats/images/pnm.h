/* pnm.h -- the Netpbm formats: PBM P1 P4, PGM P2 P5, PPM P3 P6, PAM P7.
 *
 * Maxval may be 1..65535. Samples are scaled to the full range and rounded to nearest: depth 8
 * (0..255) for maxval up to 255, else depth 16 (0..65535). In PBM 1 is black and becomes 0; in PAM
 * of type BLACKANDWHITE 1 is white. The tuple type of PAM is not needed: depth 1 is grey, 2 grey +
 * alpha, 3 RGB, 4 RGB + alpha. An alpha channel that is opaque everywhere is removed.
 *
 * Safe on hostile input: a header is checked against the limits and the available bytes before
 * memory is allocated. limits may be NULL. Threads may call these functions at once. */
#ifndef FORMATS_PNM_H
#define FORMATS_PNM_H
#include "formats/status.h"

/* 1 when a file that begins with these n bytes looks like one of these formats, else 0. */
int formats_pnm_detect(const void *bytes, size_t n);

typedef struct formats_pnm_header {
    uint32_t width, height, maxval;
    uint8_t kind;          /* 1..7, the digit after P */
    uint8_t channels;      /* as stored */
    uint8_t depth;         /* as decoded: 8 or 16 */
    size_t header_bytes;   /* the raster begins here */
    uint64_t raster_bytes; /* of a binary raster; for P1 to P3 the least it can take */
} formats_pnm_header;

/* Read a header from the first n bytes of a file, which need not contain the raster.
 * TAPER_ERR_TRUNCATED: the header does not end within n bytes. */
taper_status formats_pnm_header_decode(const void *bytes, size_t n, const taper_limits *limits,
                                       formats_pnm_header *out, taper_error *error);

/* Decode the image at the start of n bytes. *consumed (may be NULL): its size in bytes, for P1 to
 * P3 including white space that follows. Another image may begin there.
 * On failure out->pixels is NULL and *consumed is 0. */
taper_status formats_pnm_decode(const void *bytes, size_t n, const taper_limits *limits,
                                taper_image *out, size_t *consumed, taper_error *error);

/* Encode: 1 channel as PGM (P5), 3 as PPM (P6), 2 and 4 as PAM (P7); maxval 255 or 65535.
 * *out is malloc'd and the caller's to free; NULL on failure. */
taper_status formats_pnm_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error);
/* The same, with the name of the program in a comment on the second line; for images without alpha.
 * program: at most 40 bytes of ASCII. Some readers do not support comments. */
taper_status formats_pnm_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error);
/* As formats_pnm_encode, but always PAM (P7); program: as above, or NULL. */
taper_status formats_pam_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error);
taper_status formats_pam_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error);

#endif
