/* stage_layers.c -- see stage_layers.h. */
#include "codec/groups/stage_layers.h"
#include "codec/model/builtin_models.h"
#include "codec/taper.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>

/* --- inserting ------------------------------------------------------------------------- */

/* The last layer of passes; 0: there is one at most. */
static uint32_t last_passes(const formats_front *f) {
    uint32_t last = 0, n = 0;
    for (uint32_t l = 0; l < f->layers; l++)
        if (formats_front_layer_kind(f, l) == FORMATS_LAYER_PASSES) last = l, n++;
    return n > 1 ? last : 0;
}

/* passes[k]: those that the first k + 1 stages decode. */
static taper_status find_passes(const formats_front *f, const formats_model_places *places,
                                const taper_limits *limits, uint32_t *passes, taper_error *error) {
    for (uint32_t k = 0; k < places->n; k++) {
        taper_model *model;
        TAPER_TRY(taper_model_load_stages(&model, f->model, (size_t)places->end[k], limits, error));
        passes[k] = model->info.passes_known;
        taper_model_free(model);
    }
    return TAPER_OK;
}

/* before[k]: the layer in front of which stage k comes: the first one that needs it, or, of what no
 * pass needs, the next stage or the last layer of passes. */
static void place_stages(const formats_front *f, uint32_t stages, const uint32_t *passes,
                         uint32_t *before) {
    uint32_t next = last_passes(f);
    for (uint32_t k = stages; --k > 0; before[k] = next) {
        if (passes[k] == passes[k - 1]) continue;
        for (uint32_t l = 0; l < next; l++)
            if (formats_front_passes(f, l) > passes[k - 1]) next = l;
    }
    before[0] = 0;
}

/* The layers of f with stages first .. n - 1 between them. */
typedef struct new_layers {
    uint32_t first, n;
    const uint32_t *before;
    uint32_t layers;
    uint32_t *end;
    uint8_t *kind;
    uint64_t *chunk_at;
} new_layers;

static void add_stage(new_layers *to, const formats_front *f, codec_stage_layers *out, uint32_t k) {
    const uint32_t l = to->layers++, classes = f->rate_classes;
    uint64_t *at = to->chunk_at + (uint64_t)l * f->groups;
    memcpy(to->end + (size_t)l * classes, to->end + (size_t)(l - 1) * classes,
           classes * sizeof *to->end);
    to->kind[l] = FORMATS_LAYER_MODEL;
    out->from[l] = k;
    for (uint32_t g = 0; g < f->groups; g++) at[g + 1] = at[0] + out->begin[k + 1] - out->begin[k];
}

static void add_layer(new_layers *to, const formats_front *f, codec_stage_layers *out,
                      uint32_t own) {
    const uint32_t l = to->layers++, classes = f->rate_classes;
    const uint64_t *from = f->chunk_at + (uint64_t)own * f->groups;
    uint64_t *at = to->chunk_at + (uint64_t)l * f->groups;
    memcpy(to->end + (size_t)l * classes, f->layer_end + (size_t)own * classes,
           classes * sizeof *to->end);
    to->kind[l] = (uint8_t)formats_front_layer_kind(f, own);
    out->from[l] = own;
    for (uint32_t g = 0; g < f->groups; g++) at[g + 1] = at[g] + from[g + 1] - from[g];
}

static taper_status take_layers(formats_front *f, new_layers *to, codec_stage_layers *out,
                                taper_error *error) {
    const uint64_t layers = (uint64_t)f->layers + to->n - to->first;
    if (layers > FORMATS_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_LIMIT, "no layers are left for a model's stages");
    TAPER_TRY(formats_front_take(f, layers * f->rate_classes, sizeof *to->end, &to->end, error));
    TAPER_TRY(formats_front_take(f, layers, 1, &to->kind, error));
    TAPER_TRY(
        formats_front_take(f, layers * f->groups, sizeof *to->chunk_at, &to->chunk_at, error));
    return formats_front_take(f, layers, sizeof *out->from, &out->from, error);
}

static taper_status insert(formats_front *f, new_layers *to, codec_stage_layers *out,
                           taper_error *error) {
    const taper_status status = take_layers(f, to, out, error);
    if (status != TAPER_OK) {
        free(to->end), free(to->kind), free(to->chunk_at);
        return status;
    }
    for (uint32_t l = 0, k = to->first; l < f->layers; l++) {
        while (k < to->n && to->before[k] == l) add_stage(to, f, out, k++);
        add_layer(to, f, out, l);
    }
    free(f->layer_end), free(f->layer_kind), free(f->chunk_at);
    free(f->checksum); /* of other blocks */
    f->checksum = NULL;
    f->layer_end = to->end, f->layer_kind = to->kind, f->chunk_at = to->chunk_at;
    f->layers = to->layers;
    f->has_pixels = f->has_stages = 1;
    f->model_in_front = (size_t)out->begin[to->first];
    return TAPER_OK;
}

static taper_status read_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    const codec_stage_layers *s = user;
    if (formats_front_layer_kind(s->front, layer) != FORMATS_LAYER_MODEL)
        return s->inner.read(s->inner.user, s->from[layer], group, from, to, n);
    memcpy(to, s->front->model + s->begin[s->from[layer]] + from, n);
    return TAPER_OK;
}

static uint32_t count_run(void *user, uint32_t layer, uint32_t group) {
    const codec_stage_layers *s = user;
    return formats_front_layer_kind(s->front, layer) == FORMATS_LAYER_MODEL
               ? s->front->groups - group
               : s->inner.run(s->inner.user, s->from[layer], group);
}

/* A stage is in the first chunk of its layer. */
static uint32_t find_checksum(void *user, uint32_t layer, uint32_t block) {
    const codec_stage_layers *s = user;
    const uint32_t k = s->from[layer];
    if (formats_front_layer_kind(s->front, layer) != FORMATS_LAYER_MODEL)
        return s->inner.checksum(s->inner.user, k, block);
    return block ? 0
                 : formats_crc32c(0, s->front->model + s->begin[k],
                                  (size_t)(s->begin[k + 1] - s->begin[k]));
}

static void pass_written(void *user) {
    const codec_stage_layers *s = user;
    s->inner.written(s->inner.user);
}

taper_status codec_stage_layers_insert(formats_front *f, const codec_chunks *chunks,
                                       const taper_limits *limits, codec_stage_layers *out,
                                       taper_error *error) {
    formats_model_places places;
    uint32_t passes[FORMATS_MODEL_MOST_STAGES], before[FORMATS_MODEL_MOST_STAGES];
    *out = (codec_stage_layers){.chunks = *chunks, .inner = *chunks, .front = f};
    if (!f->model || f->has_stages || f->layout == TAPER_LAYOUT_IMAGE || f->holds ||
        !last_passes(f) || !formats_model_is(f->model, f->model_size, f->model_id))
        return TAPER_OK;
    TAPER_TRY(formats_model_find_stages(f->model, f->model_size, &places, error));
    TAPER_TRY(find_passes(f, &places, limits, passes, error));
    place_stages(f, places.n, passes, before);
    new_layers to = {.first = 1, .n = places.n, .before = before};
    while (to.first < places.n && !before[to.first]) to.first++;
    if (to.first == places.n) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, places.n, sizeof *out->begin, &out->begin, error));
    memcpy(out->begin + 1, places.end, places.n * sizeof *places.end);
    TAPER_TRY(insert(f, &to, out, error));
    out->chunks = (codec_chunks){.user = out,
                                 .read = read_chunk,
                                 .run = chunks->run ? count_run : NULL,
                                 .checksum = chunks->checksum ? find_checksum : NULL,
                                 .written = chunks->written ? pass_written : NULL};
    return TAPER_OK;
}

void codec_stage_layers_free(codec_stage_layers *s) {
    free(s->from), free(s->begin);
    *s = (codec_stage_layers){.front = NULL};
}

/* --- removing -------------------------------------------------------------------------- */

/* Read bytes that may have cuts between them. */
static taper_status read_source(void *user, uint64_t at, void *to, size_t n) {
    const codec_unstaged *u = user;
    uint8_t *bytes = to;
    for (uint32_t i = 0; n; i++) {
        const uint64_t end = i < u->cuts ? u->cut[i].at : UINT64_MAX,
                       skipped = i ? u->cut[i - 1].skipped : 0;
        if (at >= end) continue;
        const size_t here = end - at < n ? (size_t)(end - at) : n;
        TAPER_TRY(u->from.read(u->from.user, at + skipped, bytes, here));
        bytes += here, at += here, n -= here;
    }
    return TAPER_OK;
}

/* The model, if it is complete or built in. */
static taper_status need_model(formats_front *f, taper_error *error) {
    codec_builtin_model builtin;
    if (formats_model_is(f->model, f->model_size, f->model_id)) return TAPER_OK;
    if (!codec_builtin_model_of(f->model_id, &builtin))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the container was cut or damaged and lacks stages of its model, so it "
                            "cannot be changed; fetch the whole file");
    uint8_t *model;
    TAPER_TRY(formats_front_take(f, builtin.size, 1, &model, error));
    memcpy(model, builtin.bytes, builtin.size);
    formats_unpack_free(f, f->model, f->model_size);
    f->model = model, f->model_size = builtin.size;
    return TAPER_OK;
}

/* Leave layer l out of the front's lists; `kept` layers were kept so far, `chunks` of all. */
static void keep_layer(formats_front *f, uint32_t kept, uint32_t l) {
    const size_t classes = f->rate_classes, groups = f->groups,
                 blocks = (groups + f->chunks_per_checksum - 1) / f->chunks_per_checksum;
    const uint64_t *from = f->chunk_at + l * groups;
    uint64_t *to = f->chunk_at + kept * groups, before = from[0];
    memmove(f->layer_end + kept * classes, f->layer_end + l * classes,
            classes * sizeof *f->layer_end);
    memmove(f->checksum + kept * blocks, f->checksum + l * blocks, blocks * sizeof *f->checksum);
    f->layer_kind[kept] = f->layer_kind[l];
    for (size_t g = 0; g < groups; g++) {
        const uint64_t end = from[g + 1];
        to[g + 1] = to[g] + end - before;
        before = end;
    }
}

/* Nonzero if the front still needs kinds of layers. */
static int has_kinds(const formats_front *f) {
    for (uint32_t l = 0; l < f->layers; l++)
        if (f->layer_kind[l] != FORMATS_LAYER_PASSES) return 1;
    for (uint32_t i = 0; i < f->images; i++)
        if (f->geometry[i].alpha || f->geometry[i].indexed) return 1;
    return 0;
}

taper_status codec_stage_layers_remove(formats_front *f, const taper_source *from,
                                       codec_unstaged *out, taper_error *error) {
    *out = (codec_unstaged){.source = *from, .from = *from};
    if (!f->has_stages) return TAPER_OK;
    TAPER_TRY(need_model(f, error));
    uint64_t skipped = 0;
    uint32_t kept = 0;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t *at = f->chunk_at + (uint64_t)l * f->groups;
        if (formats_front_layer_kind(f, l) == FORMATS_LAYER_MODEL) {
            const uint64_t size = at[f->groups] - at[0], begin = f->front_size + at[0];
            if (from->size > begin)
                out->source.size -= from->size - begin < size ? from->size - begin : size;
            out->cut[out->cuts].at = begin - skipped;
            out->cut[out->cuts++].skipped = skipped += size;
            continue;
        }
        keep_layer(f, kept++, l);
    }
    f->layers = kept;
    f->has_stages = 0;
    if (!has_kinds(f)) {
        free(f->layer_kind);
        f->layer_kind = NULL, f->has_pixels = 0;
    }
    out->source.user = out;
    out->source.read = read_source;
    return TAPER_OK;
}
