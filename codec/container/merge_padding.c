/* merge_padding.c -- see merge_padding.h. */
#include "codec/container/merge_padding.h"
#include "codec/bitplane/chunk_padding.h"
#include "codec/bitplane/strips.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/decoder/front_load.h"
#include "codec/model/builtin_models.h"

/* The window of the model, which is sought when the first image may have several strips. */
typedef struct sought_window {
    const taper_model *given; /* NULL: none */
    const formats_front *result;
    const taper_limits *limits;
    int is_sought, is_known;
    codec_window window;
} sought_window;

static taper_status seek_window(sought_window *of, taper_error *error) {
    codec_builtin_model builtin;
    taper_model *carried = NULL;
    const taper_model *model = of->given;
    if (of->is_sought) return TAPER_OK;
    if (!model && codec_builtin_model_of(of->result->model_id, &builtin)) {
        model = builtin.constant;
    } else if (!model && of->result->model) {
        TAPER_TRY(codec_front_model(of->result, of->limits, &carried, error));
        model = carried;
    }
    of->is_sought = 1, of->is_known = model != NULL;
    if (model) of->window = model->window;
    of->window.lap = NULL; /* it is the model's */
    taper_model_free(carried);
    return TAPER_OK;
}

/* The only image of group g that has windows; NULL: none, or several. */
static const formats_geometry *only_image(const formats_front *f, uint32_t g) {
    const formats_geometry *only = NULL;
    for (uint32_t at = f->group_first[g]; at < f->group_first[g + 1]; at++) {
        const formats_geometry *image = &f->geometry[formats_front_image(f, at)];
        if (image->indexed) continue;
        if (only) return NULL;
        only = image;
    }
    return only;
}

/* The strips of a group of this image alone, with windows of this size. */
static uint32_t strips_of(const formats_geometry *image, codec_window window) {
    const codec_grid grid = codec_windows_grid(window, image->width, image->height);
    return codec_strips_count(&grid, 1);
}

/* The strips of group g of a shard, as far as they are known. */
static taper_status count_strips(const formats_front *f, uint32_t g, sought_window *of,
                                 uint32_t *strips, taper_error *error) {
    static const codec_window smallest = {1, 1, 1, NULL};
    const formats_geometry *image = only_image(f, g);
    *strips = 1;
    if (!image || strips_of(image, smallest) == 1) return TAPER_OK;
    TAPER_TRY(seek_window(of, error));
    if (of->is_known) *strips = strips_of(image, of->window);
    return TAPER_OK;
}

/* Nonzero if chunk g of layer `own` of a shard is complete, is of use, and is marked as cut in the
 * result. */
static int needs_padding(const formats_front *result, const formats_front *f, uint32_t layer,
                         uint32_t own, uint32_t group, uint32_t g) {
    if (!codec_chunk_is_cut(result, layer, group) || codec_chunk_is_cut(f, own, g)) return 0;
    const uint64_t *at = f->chunk_at + (uint64_t)own * f->groups + g;
    if (formats_front_layer_kind(f, own) != FORMATS_LAYER_PASSES) return at[1] > at[0];
    return formats_front_layer_end(f, own, g) > (own ? formats_front_layer_end(f, own - 1, g) : 0);
}

/* Find the padding of the chunks of shard s. */
static taper_status pad_shard(codec_merging *m, const formats_front *result, size_t s,
                              sought_window *window, taper_error *error) {
    const formats_front *f = &m->front[s];
    const uint32_t l = result->layers - 1;
    const int32_t own = m->layers[s].layer_at[l];
    if (own < 0) return TAPER_OK;
    const int has_passes = formats_front_layer_kind(f, (uint32_t)own) == FORMATS_LAYER_PASSES;
    for (uint32_t g = 0, group = m->first[s].group; g < f->groups; g++, group++) {
        if (!needs_padding(result, f, l, (uint32_t)own, group, g)) continue;
        m->padding[group] = 1;
        if (has_passes) TAPER_TRY(count_strips(f, g, window, &m->padding[group], error));
    }
    return TAPER_OK;
}

taper_status codec_merge_pad(codec_merging *m, formats_front *result, const taper_limits *limits,
                             taper_error *error) {
    sought_window window = {.given = m->model, .result = result, .limits = limits};
    if (m->model) TAPER_TRY(codec_front_match(result, m->model, error));
    if (!result->tail) return TAPER_OK;
    TAPER_TRY(formats_front_take(result, result->groups, sizeof *m->padding, &m->padding, error));
    for (size_t s = 0; s < m->n; s++) TAPER_TRY(pad_shard(m, result, s, &window, error));
    return TAPER_OK;
}
