/* strip_codes.h -- the codes of a large image, which wait in a file, strip by strip, until all of
 * them are known: then it is known which planes to raise, and the strips are encoded.
 *
 * The image comes row by row, once, so that neither its pixels nor its windows are in memory as a
 * whole. Codes are those of the whole image. */
#ifndef CODEC_STRIP_CODES_H
#define CODEC_STRIP_CODES_H
#include "codec/bitplane/strips.h"
#include "codec/model/model.h"

/* Where bytes wait; appended at the end. Calls may come from several threads. */
typedef struct codec_waiting_bytes {
    void *user;
    taper_status (*append)(void *user, const void *bytes, size_t n, uint64_t *at);
    taper_status (*read)(void *user, uint64_t at, void *to, size_t n);
} codec_waiting_bytes;

/* Rows of pixels, from top to bottom: fill rows->pixels with the next rows->height rows. */
typedef struct codec_row_input {
    void *user;
    taper_status (*read)(void *user, const taper_image *rows);
} codec_row_input;

typedef struct codec_strip_codes {
    codec_waiting_bytes in; /* its user outlives this */
    codec_grid grid;
    uint32_t strips;
    taper_image image;  /* its size; no pixels */
    uint64_t *at;       /* [strips] where codes begin: [units][stride of the strip] */
    uint64_t *pixel_at; /* [grid.rows] where the pixels of rows of windows are; NULL: not kept */
    int32_t *largest;   /* [units] largest magnitude */
    double *loss;       /* [units] squared error of clipping all values to the model's planes */
    formats_block block;
} codec_strip_codes;

/* How an image is analysed; all borrowed. */
typedef struct codec_strip_analysis {
    const taper_model *model;
    const codec_network *network; /* with an analysis */
    const codec_backend *backend;
    int keep_pixels; /* nonzero: the pixels wait, too, to be compared with what is decoded */
} codec_strip_analysis;

/* Analyse an image of several strips. image: its size, channels and depth. TAPER_ERR_NOMEM, errors
 * of the rows and of the file: *out is zeroed. */
taper_status codec_strip_codes_make(codec_strip_codes *out, const codec_strip_analysis *by,
                                    const taper_image *image, const codec_row_input *rows,
                                    const codec_waiting_bytes *in);
void codec_strip_codes_free(codec_strip_codes *codes); /* leaves it zeroed */
/* Memory of codec_strip_codes_make. */
uint64_t codec_strip_codes_bytes(const taper_model *model, const taper_image *image);

/* The grid of strip i, and the distance of units in its codes. */
codec_grid codec_strip_codes_grid(const codec_strip_codes *codes, uint32_t i);
size_t codec_strip_codes_stride(const codec_strip_codes *codes, uint32_t i);
#endif
