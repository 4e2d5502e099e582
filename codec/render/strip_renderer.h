/* strip_renderer.h -- the decoded part of a group of several strips (bitplane/strips.h) to the
 * values of its windows: a window_renderer for each strip. */
#ifndef CODEC_STRIP_RENDERER_H
#define CODEC_STRIP_RENDERER_H
#include "codec/bitplane/strips.h"
#include "codec/render/window_renderer.h"

typedef struct codec_strip_renderer {
    const codec_strips *strips;   /* borrowed */
    codec_window_renderer *strip; /* [n]; zeroed where no window is rendered */
    uint32_t n;                   /* strips */
} codec_strip_renderer;

/* Which windows are rendered, and how: first .. first + n - 1 of the group as it is now. */
typedef struct codec_strip_rendering {
    const taper_model *model;
    const codec_strips *strips;
    uint32_t first, n;
    int with_head;                  /* with the head's correction, if the model has one */
    const codec_small_basis *basis; /* borrowed; for codec_strip_renderer_sums only; or NULL */
    /* NULL, or a renderer of windows of another group, with the same model and basis, which then is
     * quicker where both are decoded to the same depth. It must outlive this one. */
    const codec_strip_renderer *like;
} codec_strip_rendering;

/* pool: threads, or NULL. TAPER_ERR_NOMEM: *r is zeroed. */
taper_status codec_strip_renderer_begin(codec_strip_renderer *r, const codec_strip_rendering *of,
                                        codec_pool *pool);
void codec_strip_renderer_end(codec_strip_renderer *r); /* leaves it zeroed */
/* Nonzero: others may be like it: it is of one strip, and has work to save. */
int codec_strip_renderer_has_rows(const codec_strip_renderer *r);

/* As codec_window_renderer_run and _sums (window_renderer.h). */
taper_status codec_strip_renderer_run(const codec_strip_renderer *r, codec_backend *be,
                                      uint32_t first, uint32_t n, int16_t *value);
taper_status codec_strip_renderer_sums(const codec_strip_renderer *r, uint32_t first, uint32_t n,
                                       int32_t *sum);

/* Memory of a renderer of n windows of images up to `columns` wide, at most. */
uint64_t codec_strip_renderer_bytes(const taper_model *model, uint64_t n, uint64_t columns);

#endif
