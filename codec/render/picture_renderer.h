/* picture_renderer.h -- the windows of an image to its samples. */
#ifndef CODEC_PICTURE_RENDERER_H
#define CODEC_PICTURE_RENDERER_H
#include "codec/model/model.h"
#include "codec/transform/picture.h"

/* Undo the laps of the picture, restore it for this number of complete passes, and write it to the
 * image (codec_picture_store). The picture is changed. pool: threads, or NULL. TAPER_ERR_NOMEM: no
 * memory to restore it. */
taper_status codec_render_picture(const taper_model *model, uint32_t pass, codec_pool *pool,
                                  const codec_picture *picture, taper_image *image);

/* The same of the image's windows, value[windows][values]. */
taper_status codec_render_windows(const taper_model *model, uint32_t pass, codec_pool *pool,
                                  const int16_t *value, taper_image *image);

/* Memory of codec_render_windows for an image; with `threads` threads. */
uint64_t codec_render_bytes(const taper_model *model, codec_grid grid, unsigned threads);

#endif
