/* planned_images.c -- taper_decoder_plan_images: the bytes of a supplied container that many images
 * need, within a budget; see taper.h. Layers that fit are listed whole. Of the next one, as much is
 * listed as fits: the same part of each chunk, or the first chunks where parts would be short. */
#include "codec/decoder/planned.h"
#include "formats/sized.h"
#include <math.h>
#include <stdlib.h>

/* What is wanted. */
typedef struct wanted_set {
    const taper_decoder *decoder;
    uint32_t *group; /* [n] of the container, ascending, each once */
    size_t n;
    uint32_t passes;
    uint64_t budget;
} wanted_set;

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How a layer is divided: the same part of every chunk, or parts of 1, then 0. */
typedef enum division { ALIKE, IN_ORDER } division;

/* List what is missing of a layer up to t, 0..1. damaged: NULL, or set to a damaged group. The
 * listing ends early when it is above the budget. */
static void list_layer(const wanted_set *s, uint32_t layer, division by, double t, codec_plan *to,
                       uint32_t *damaged) {
    for (size_t k = 0; k < s->n && to->bytes <= s->budget; k++) {
        const double part = by == ALIKE ? t : fmin(1, fmax(0, t * (double)s->n - (double)k));
        const formats_front *f = codec_container_leaf_of_group(&s->decoder->own, s->group[k]);
        const uint32_t g = s->group[k] - f->first_group;
        if (part == 0) break;
        if (layer && formats_front_layer_end(f, layer - 1, g) >= s->passes) continue;
        if (!codec_plan_wants(s->decoder, f, layer, g)) continue;
        const codec_chunk_part of = {f, layer, g, part};
        if (codec_plan_chunk(s->decoder, &of, to) && damaged) *damaged = s->group[k];
    }
}

/* The largest t of which the layer fits in the budget behind what `before` has. */
static double search(const wanted_set *s, uint32_t layer, division by, const codec_plan *before) {
    double low = 0, step = 0.5;
    for (int i = 0; i < 32; i++, step /= 2) {
        codec_plan to = *before;
        to.capacity = 0;
        list_layer(s, layer, by, low + step, &to, NULL);
        if (to.bytes <= s->budget) low += step;
    }
    return low;
}

/* The mean size of the ranges that a part of the layer adds. */
static double mean_added(const wanted_set *s, uint32_t layer, double t, const codec_plan *before) {
    codec_plan to = *before;
    to.capacity = 0;
    list_layer(s, layer, ALIKE, t, &to, NULL);
    const size_t ranges = to.count > before->count ? to.count - before->count : 1;
    return (double)(to.bytes - before->bytes) / (double)ranges;
}

/* Nothing fits: list the beginning of the layer's first range. */
static void list_beginning(const wanted_set *s, uint32_t layer, codec_plan *to) {
    taper_range first = {0, 0};
    codec_plan one = {.range = &first, .capacity = 1, .max_gap = to->max_gap};
    wanted_set all = *s;
    all.budget = UINT64_MAX;
    list_layer(&all, layer, ALIKE, 1, &one, NULL);
    if (one.count)
        codec_plan_add(to, first.offset,
                       first.offset + (first.size < s->budget ? first.size : s->budget));
}

static void list_part(const wanted_set *s, uint32_t layer, codec_plan *to, uint32_t *damaged) {
    double t = search(s, layer, ALIKE, to);
    division by = ALIKE;
    if (t == 0 || mean_added(s, layer, t, to) < (double)to->max_gap)
        by = IN_ORDER, t = search(s, layer, by, to);
    list_layer(s, layer, by, t, to, damaged);
    if (!to->count) list_beginning(s, layer, to);
}

/* The groups are known. */
static taper_status list_layers(const wanted_set *s, codec_plan *to, taper_error *error) {
    uint32_t damaged = UINT32_MAX;
    for (uint32_t layer = 0; layer < s->decoder->own.front.layers; layer++) {
        const codec_plan before = *to;
        list_layer(s, layer, ALIKE, 1, to, &damaged);
        if (to->bytes <= s->budget) continue;
        if (before.count && before.count <= before.capacity) /* the layer may have made it longer */
            to->range[before.count - 1].size = before.end - to->range[before.count - 1].offset;
        *to = before;
        list_part(s, layer, to, &damaged);
        break;
    }
    return damaged < UINT32_MAX ? codec_plan_damage(s->decoder, damaged, error) : TAPER_OK;
}

/* --- the images ------------------------------------------------------------------------ */

/* List what is missing of leaves; *ready: nonzero if all are here. */
static taper_status list_leaves(taper_decoder *d, const taper_plan_options *o, codec_plan *to,
                                int *ready, taper_error *error) {
    const formats_root *r = &d->own.root;
    *ready = 1;
    uint8_t *wants = r->leaves ? calloc(r->leaves, 1) : NULL;
    if (!r->leaves) return TAPER_OK;
    if (!wants) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plan");
    for (size_t k = 0; k < o->n; k++)
        if (o->image[k] < d->own.front.images)
            wants[formats_root_leaf_of_image(r, (uint32_t)o->image[k])] = 1;
    taper_status status = TAPER_OK;
    for (uint32_t k = 0; k < r->leaves; k++) {
        int here = 1;
        taper_error why = {0};
        if (o->image && !wants[k]) continue;
        const taper_status one = codec_plan_leaf(d, k, to, &here, &why);
        if (one != TAPER_OK && status == TAPER_OK) {
            status = one;
            if (error) *error = why;
        }
        *ready &= here;
    }
    free(wants);
    return status;
}

static taper_status find_groups(const taper_decoder *d, const taper_plan_options *o, wanted_set *s,
                                taper_error *error) {
    for (size_t k = 0; k < o->n; k++) {
        taper_image_info info = {.size = sizeof info};
        TAPER_TRY(codec_decoder_find(d, o->image[k], &info, error));
        s->group[k] = info.group;
    }
    qsort(s->group, o->n, sizeof *s->group, ascending);
    s->n = 0;
    for (size_t k = 0; k < o->n; k++)
        if (!k || s->group[k] != s->group[s->n - 1]) s->group[s->n++] = s->group[k];
    return TAPER_OK;
}

static taper_status plan_data(taper_decoder *d, const taper_plan_options *o, codec_plan *to,
                              taper_error *error) {
    wanted_set s = {.decoder = d,
                    .n = o->image ? o->n : d->own.front.groups,
                    .passes = o->passes ? o->passes : UINT32_MAX,
                    .budget = o->max_bytes ? o->max_bytes : UINT64_MAX};
    const uint64_t bytes = s.n * sizeof *s.group;
    if (!s.n) return TAPER_OK;
    if (formats_account_take(&d->account, bytes) != TAPER_OK)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_account_step(&d->account, bytes),
                                 "a plan of %zu images takes more memory than is left", s.n);
    s.group = malloc(bytes);
    taper_status status = TAPER_OK;
    if (!s.group) status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plan");
    for (size_t g = 0; s.group && !o->image && g < s.n; g++) s.group[g] = (uint32_t)g;
    if (s.group && o->image) status = find_groups(d, o, &s, error);
    if (status == TAPER_OK) status = list_layers(&s, to, error);
    free(s.group);
    formats_account_give(&d->account, bytes);
    return status;
}

taper_status taper_decoder_plan_images(taper_decoder *d, const taper_plan_options *options,
                                       taper_range *ranges, size_t capacity, size_t *count,
                                       taper_error *error) {
    taper_plan_options o;
    TAPER_TRY(formats_need(count, "the count of ranges", error));
    *count = 0;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_sized_take(&o, sizeof o, options, "taper_plan_options", error));
    TAPER_TRY(formats_need_array(o.image, o.n, sizeof *o.image, "the images", error));
    TAPER_TRY(codec_plan_begin(d, o.cut ? o.cut : UINT64_MAX, ranges, capacity, count, error));
    codec_plan to = {.range = ranges, .capacity = capacity, .max_gap = o.max_gap};
    int ready = 0;
    taper_status status =
        d->front_ready ? list_leaves(d, &o, &to, &ready, error) : codec_plan_front(d, &to, error);
    if (status == TAPER_OK && ready) status = plan_data(d, &o, &to, error);
    *count = to.count;
    return status;
}
