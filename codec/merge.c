/* merge.c -- taper_merge: shards of one set into one container, chunk by chunk, without recoding.
 */
#include "assemble.h"
#include "group_reader.h"
#include "verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shard {
    formats_front front;
    uint32_t first_group;
} shard;

typedef struct merge {
    const taper_source *source;
    shard *shard;
    size_t n;
} merge;

static taper_status read_merged(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                                size_t n) {
    const merge *m = user;
    size_t s = m->n - 1;
    while (m->shard[s].first_group > group) s--;
    const formats_front *f = &m->shard[s].front;
    uint64_t chunk = (uint64_t)layer * f->groups + group - m->shard[s].first_group;
    return m->source[s].read(m->source[s].user, f->front_size + f->chunk_at[chunk] + from, to, n);
}

/* May this shard stand beside the first? */
static taper_status check_shard(const formats_front *a, const formats_front *b, uint64_t size,
                                size_t i, taper_error *error) {
    uint64_t end = b->front_size + b->chunk_at[(uint64_t)b->layers * b->groups];
    if (b->tail || size < end)
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu is cut; merge takes whole containers", i + 1);
    if (a->model_id != b->model_id)
        return formats_fail(error, TAPER_ERR_MODEL,
                            "container %zu was made with another model (%016llx)", i + 1,
                            (unsigned long long)b->model_id);
    if (a->layout != b->layout || a->layers != b->layers || a->tracks != b->tracks ||
        memcmp(a->layer_end, b->layer_end, (size_t)a->tracks * a->layers * sizeof *a->layer_end))
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu has another layout, other layers or other tracks; "
                            "encode all shards with the same options and the same --group, and "
                            "with --allocation even",
                            i + 1);
    if (a->classes != b->classes)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "container %zu has other classes; encode all shards with the same labels", i + 1);
    for (uint32_t k = 0; k < a->classes; k++)
        if (strcmp(formats_front_class_name(a, k), formats_front_class_name(b, k)))
            return formats_fail(error, TAPER_ERR_ARG,
                                "class %u has another name in container %zu; encode all shards "
                                "with the same labels",
                                k, i + 1);
    return TAPER_OK;
}

/* The merged front's counts and arrays of fixed size. */
static taper_status size_merged(const merge *m, formats_front *f) {
    const formats_front *a = &m->shard[0].front;
    *f = (formats_front){
        .model_id = a->model_id, .layout = a->layout, .layers = a->layers, .tracks = a->tracks};
    size_t entries = (size_t)a->tracks * a->layers;
    uint64_t images = 0, groups = 0;
    int names = 0, labels = 0;
    for (size_t s = 0; s < m->n; s++) {
        m->shard[s].first_group = (uint32_t)groups;
        images += m->shard[s].front.images;
        groups += m->shard[s].front.groups;
        names |= m->shard[s].front.names != NULL;
        labels |= m->shard[s].front.label != NULL;
    }
    if (images >= UINT32_MAX) return TAPER_ERR_LIMIT;
    f->images = (uint32_t)images;
    f->groups = (uint32_t)groups;
    f->geometry = calloc(images + 1, sizeof *f->geometry);
    f->group_first = calloc(groups + 1, sizeof *f->group_first);
    f->layer_end = calloc(entries, sizeof *f->layer_end);
    f->chunk_at = calloc((size_t)f->layers * groups + 1, sizeof *f->chunk_at);
    int ok = f->geometry && f->group_first && f->layer_end && f->chunk_at;
    if (names) ok = (f->name_at = calloc(images + 1, sizeof *f->name_at)) != NULL && ok;
    if (labels) ok = (f->label = calloc(images + 1, sizeof *f->label)) != NULL && ok;
    if (f->tracks > 1)
        ok = (f->image_track = malloc(images)) && (f->group_track = malloc(groups)) && ok;
    if (ok) memcpy(f->layer_end, a->layer_end, entries * sizeof *f->layer_end);
    return ok ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void fill_merged(const merge *m, formats_front *f) {
    uint32_t image = 0, group = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_first[group++] = image + b->group_first[g];
        memcpy(f->geometry + image, b->geometry, b->images * sizeof *b->geometry);
        if (f->tracks > 1) {
            memcpy(f->image_track + image, b->image_track, b->images);
            memcpy(f->group_track + group - b->groups, b->group_track, b->groups);
        }
        for (uint32_t i = 0; f->label && i < b->images; i++)
            f->label[image + i] = b->label ? b->label[i] : -1;
        image += b->images;
    }
    f->group_first[group] = image;
    uint64_t at = 0, c = 0;
    for (uint32_t l = 0; l < f->layers; l++)
        for (size_t s = 0; s < m->n; s++) {
            const formats_front *b = &m->shard[s].front;
            for (uint32_t g = 0; g < b->groups; g++) {
                uint64_t chunk = (uint64_t)l * b->groups + g;
                at += b->chunk_at[chunk + 1] - b->chunk_at[chunk];
                f->chunk_at[++c] = at;
            }
        }
}

/* Names of all shards in one block; from the second shard on under a folder of its number, so that
 * none collide. */
static taper_status merge_names(const merge *m, formats_front *f) {
    if (!f->name_at) return TAPER_OK;
    formats_buffer block = formats_buffer_make(UINT32_MAX);
    uint32_t image = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        for (uint32_t i = 0; i < b->images; i++, image++) {
            char text[4200];
            const char *name = formats_front_name(b, i);
            if (s == 0 && name)
                snprintf(text, sizeof text, "%s", name);
            else if (name)
                snprintf(text, sizeof text, "shard-%zu/%.4000s", s + 1, name);
            else
                snprintf(text, sizeof text, "shard-%zu/%06u.png", s + 1, i + 1);
            f->name_at[image] = (uint32_t)block.size;
            formats_write_bytes(&block, text, strlen(text) + 1);
        }
    }
    f->names = (char *)formats_buffer_take(&block, &(size_t){0});
    return block.status == TAPER_OK && f->names ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Class names and embedded model are the first shard's: move them over. */
static void take_shared(const merge *m, formats_front *f) {
    formats_front *a = &m->shard[0].front;
    f->classes = f->label ? a->classes : 0;
    f->class_names = a->class_names, a->class_names = NULL;
    f->class_name_at = a->class_name_at, a->class_name_at = NULL;
    f->model = a->model, a->model = NULL;
    f->model_size = a->model_size;
}

taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                         const taper_limits *limits, taper_error *error) {
    if (!n)
        return formats_fail(error, TAPER_ERR_ARG, "nothing to merge; name at least one container");
    merge m = {from, calloc(n, sizeof *m.shard), n};
    taper_status status =
        m.shard ? TAPER_OK
                : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu containers", n);
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        status = codec_front_load(&from[i], limits, &m.shard[i].front, error);
        if (status == TAPER_OK)
            status = check_shard(&m.shard[0].front, &m.shard[i].front, from[i].size, i, error);
        if (status == TAPER_OK)
            status = codec_refuse_damage(&m.shard[i].front, &from[i], UINT64_MAX, error);
    }
    formats_front front = {0};
    if (status == TAPER_OK) {
        status = size_merged(&m, &front);
        if (status == TAPER_OK) fill_merged(&m, &front), status = merge_names(&m, &front);
        if (status == TAPER_OK && front.tracks > 1) status = formats_front_place_images(&front);
        if (status != TAPER_OK) formats_fail(error, status, "no memory for the merged directory");
    }
    if (status == TAPER_OK) {
        uint64_t chunks = (uint64_t)front.layers * front.groups;
        take_shared(&m, &front);
        front.chunks_per_checksum =
            codec_checksum_span(front.layout, front.chunk_at[chunks], chunks);
        codec_chunks reader = {&m, read_merged};
        status = codec_assemble(&front, &reader, UINT64_MAX, to, error);
    }
    formats_front_free(&front);
    for (size_t i = 0; m.shard && i < n; i++) formats_front_free(&m.shard[i].front);
    free(m.shard);
    return status;
}
