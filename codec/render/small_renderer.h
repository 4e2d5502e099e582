/* small_renderer.h -- the decoded part of a group to small images, without restoration.
 *
 * The sums of each window's small rows (small_basis.h) are added to a picture of sums, with those
 * of the windows around. It is one reach larger on each side than the grid; what is beyond the grid
 * is then added to what is within, mirrored at the edge. The sums become values (synthesis.h) and
 * these samples (picture.h). All sums are modulo 2^32, so their order does not count. */
#ifndef CODEC_SMALL_RENDERER_H
#define CODEC_SMALL_RENDERER_H
#include "codec/render/strip_renderer.h"
#include "codec/transform/picture.h"

/* The windows of an image: positions first .. first + columns * rows - 1 of the group. */
typedef struct codec_small_source {
    const taper_model *model;
    const codec_small_basis *basis;
    const codec_strips *group;
    uint32_t first;
    codec_grid grid;
} codec_small_source;

/* Render to the image's samples (codec_picture_store). image: its size is at most that of the grid
 * in small pixels. pool: threads, or NULL. TAPER_ERR_NOMEM. */
taper_status codec_render_small(const codec_small_source *source, codec_pool *pool,
                                taper_image *image);

/* Memory of it with `threads` threads, at most. */
uint64_t codec_render_small_bytes(const taper_model *model, uint32_t scale, codec_grid grid,
                                  unsigned threads);

#endif
