/* row_renderer.h -- strips of an image, given from top to bottom, to rows of samples. A strip may
 * be freed before the next one is decoded. */
#ifndef CODEC_ROW_RENDERER_H
#define CODEC_ROW_RENDERER_H
#include "codec/backend/backend.h"
#include "codec/render/picture_rows.h"
#include "codec/render/window_renderer.h"

typedef struct codec_row_renderer {
    const codec_backend *backend; /* borrowed */
    codec_picture_rows rows;
    /* That of the first strip, which saves time for the others; its group may be gone. */
    codec_window_renderer like;
    int has_like, is_plain;
} codec_row_renderer;

/* What is rendered. */
typedef struct codec_row_rendering {
    const taper_model *model;
    const codec_backend *backend; /* its pool has the threads */
    taper_image image;            /* its size, channels and depth */
    codec_rectangle crop;         /* within it, in pixels */
    uint32_t pass;                /* complete passes of all strips, for the restoration */
    codec_row_taker to;
    int is_plain; /* nonzero: without the head's correction and the restoration */
} codec_row_rendering;

/* TAPER_ERR_NOMEM: *r is zeroed. */
taper_status codec_row_renderer_begin(codec_row_renderer *r, const codec_row_rendering *of);
void codec_row_renderer_end(codec_row_renderer *r); /* leaves it zeroed */

/* Rows of windows of a group. */
typedef struct codec_strip_rows {
    const codec_group *group;
    uint32_t position;   /* of the first window of these rows in the group */
    uint32_t first, end; /* rows of windows of the image */
} codec_strip_rows;

/* The rows of windows that are needed: those of rows.windows. */
static inline int codec_row_renderer_needs(const codec_row_renderer *r, uint32_t first,
                                           uint32_t end) {
    return first < r->rows.windows.y + r->rows.windows.height && end > r->rows.windows.y;
}

/* Render the next rows, as far as they are needed. The strips follow each other. A status of the
 * taker, or TAPER_ERR_NOMEM. */
taper_status codec_row_renderer_put(codec_row_renderer *r, codec_strip_rows strip);

/* Its memory, while strips of up to this many rows of windows are put. */
uint64_t codec_row_renderer_bytes(const codec_row_rendering *of, uint32_t strip_rows);

#endif
