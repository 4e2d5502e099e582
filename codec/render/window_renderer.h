/* window_renderer.h -- the decoded part of a group to the values of its windows, before laps and
 * restoration.
 *
 * A linear model (a basis without a decoder stack) does this in integers: the coefficients that are
 * not 0 (terms.h) times the rows of the synthesis, plus the rows of the head. Every machine gets
 * the same values. Other models compute in floats; the values are rounded at the end.
 *
 * The directory codec/render/: codes to pixels.
 *   terms              the coefficients of windows that are not 0
 *   head_rows          the head's correction as rows of the synthesis
 *   window_renderer    the values of windows; strip_renderer: of a group of several strips
 *   picture_renderer   windows to an image: laps, restoration, samples
 *   picture_rows       windows to rows of an image or of a rectangle of it; row_renderer: strips to
 *                      these rows
 *   small_renderer     windows to an image of 1/2 .. 1/16 of the size */
#ifndef CODEC_WINDOW_RENDERER_H
#define CODEC_WINDOW_RENDERER_H
#include "codec/model/model.h"
#include "codec/render/head_rows.h"
#include "codec/transform/small_basis.h"

typedef struct codec_window_renderer {
    const taper_model *model; /* borrowed, as the group */
    const codec_group *group;
    /* The model's, or `own`, or that of a small basis; NULL: not a linear model. */
    const codec_synthesis *synthesis;
    codec_synthesis own;
    codec_term_rows rows; /* of the synthesis */
    codec_head_rows head;
    int has_head;
    uint32_t units; /* known ones */
} codec_window_renderer;

/* Prepare to render windows first .. first + n - 1 of the group in its present state. with_head:
 * with the head's correction, if the model has one. like: NULL, or a renderer of another group with
 * the same tables, in a similar state, which saves time. TAPER_ERR_NOMEM: *r is zeroed. */
taper_status codec_window_renderer_begin(codec_window_renderer *r, const taper_model *model,
                                         const codec_group *group, uint32_t first, uint32_t n,
                                         int with_head, const codec_window_renderer *like);
/* The same with the rows of a small basis, borrowed, and with the head. For
 * codec_window_renderer_sums only. */
taper_status codec_window_renderer_begin_small(codec_window_renderer *r, const taper_model *model,
                                               const codec_group *group, uint32_t first, uint32_t n,
                                               const codec_small_basis *basis,
                                               const codec_window_renderer *like);
void codec_window_renderer_end(codec_window_renderer *r);

/* value[n][inputs] of windows first .. first + n - 1, some of those, in 1/16 of a level above 128.
 * Threads may call it at once, each with a backend without a pool. TAPER_ERR_NOMEM. */
taper_status codec_window_renderer_run(const codec_window_renderer *r, codec_backend *be,
                                       uint32_t first, uint32_t n, int16_t *value);

/* sum[n][lanes] of the synthesis of a linear model (synthesis.h), for n <= CODEC_TERMS_WINDOWS
 * windows. Threads may call it at once. TAPER_ERR_NOMEM. */
taper_status codec_window_renderer_sums(const codec_window_renderer *r, uint32_t first, uint32_t n,
                                        int32_t *sum);

/* Memory of a renderer of n windows of images up to `columns` wide, and of
 * codec_window_renderer_run for n. */
uint64_t codec_window_renderer_bytes(const taper_model *model, uint64_t n, uint64_t columns);
uint64_t codec_window_renderer_run_bytes(const taper_model *model, uint64_t n);

#endif
