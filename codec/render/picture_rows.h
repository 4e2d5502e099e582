/* picture_rows.h -- the windows of an image to rows of samples, from top to bottom, with little
 * more in memory than the rows that are being made. So of a rectangle of an image only the windows
 * are rendered that it shows.
 *
 * Laps and restoration change pixels near those that are shown. What they need beyond the rectangle
 * is rendered, too: a few pixels, rounded to windows. Samples equal those of the whole image. */
#ifndef CODEC_PICTURE_ROWS_H
#define CODEC_PICTURE_ROWS_H
#include "codec/model/model.h"
#include "codec/transform/picture.h"

/* A rectangle in pixels, at least 1 x 1, or of windows. */
typedef struct codec_rectangle {
    uint32_t x, y, width, height;
} codec_rectangle;

/* Takes finished rows: `rows->height` of them, the first of which is row `first` of the rectangle.
 * rows: borrowed. A status other than TAPER_OK ends the rendering. */
typedef struct codec_row_taker {
    void *user;
    taper_status (*take)(void *user, uint32_t first, const taper_image *rows);
} codec_row_taker;

typedef struct codec_picture_rows {
    const taper_model *model; /* borrowed, as the pool */
    codec_pool *pool;
    uint32_t pass; /* complete passes, for the restoration */
    int is_plain;  /* nonzero: without restoration */
    codec_row_taker to;
    codec_grid grid;         /* of the image */
    codec_rectangle crop;    /* in pixels */
    codec_rectangle windows; /* the windows that are needed */
    uint8_t channels, depth; /* of the image */
    /* Rows top .. end - 1 of the pixels of these windows, lapped as far as rows are there. Rows of
     * the image from `done` on are still to be taken. */
    codec_picture picture;
    uint32_t top, end, done;
    codec_picture restored; /* a copy, which the restoration changes */
    void *samples;          /* of the finished rows */
    uint32_t most;          /* rows of windows that are put at once */
    uint32_t kept;          /* rows of pixels that remain between two puts, at most */
} codec_picture_rows;

/* The windows of the image that the rectangle needs. */
codec_rectangle codec_picture_rows_windows(const taper_model *model, codec_grid grid,
                                           codec_rectangle crop);

/* Begin. info: of the image; crop: within it. most: rows of windows that are put at once, at most.
 * TAPER_ERR_NOMEM: *r is zeroed. */
taper_status codec_picture_rows_begin(codec_picture_rows *r, const taper_model *model,
                                      const taper_image *image, codec_rectangle crop, uint32_t most,
                                      codec_row_taker to);
void codec_picture_rows_end(codec_picture_rows *r); /* leaves it zeroed */

/* Where n windows from this column of the image on belong, in row `row` of the next rows of windows
 * that are put. value: [n][values]. Threads may call it at once. */
void codec_picture_rows_place(const codec_picture_rows *r, uint32_t row, uint32_t column,
                              uint32_t n, const int16_t *value);
/* These rows of windows, 1 .. most, are placed: finish and take the samples that are complete. Any
 * status of the taker; TAPER_ERR_NOMEM. */
taper_status codec_picture_rows_put(codec_picture_rows *r, uint32_t rows);

/* The memory of rendering so many rows of windows at once, for a rectangle of an image of this
 * grid; with `threads` threads. */
uint64_t codec_picture_rows_bytes(const taper_model *model, const taper_image *image,
                                  codec_rectangle crop, uint32_t most, unsigned threads);

#endif
