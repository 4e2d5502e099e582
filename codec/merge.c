/* merge.c -- taper_merge: shards of one set into one container, chunk by chunk, without recoding.
 */
#include "merge.h"
#include "assemble.h"
#include "group_reader.h"
#include "verify.h"
#include <stdlib.h>
#include <string.h>

/* --- chunks ---------------------------------------------------------------------------- */

/* A chunk of the result: bytes of a shard, and zeros after them. */
typedef struct piece {
    size_t shard;
    uint64_t at, length, zeros;
} piece;

static size_t shard_of(const codec_merge *m, uint32_t group) {
    size_t low = 0, high = m->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m->shard[middle].first_group <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A chunk that is whole, but stands behind one that is cut, counts as cut, too: a decoder takes it
 * for a prefix, which ends in doubt. Behind a whole string zeros follow, so some are put there: a
 * window of the range coder, and what a string may lack at its end. */
static uint64_t zeros_of(const formats_front *result, const formats_front *f, uint32_t layer,
                         uint32_t own, uint32_t group, uint32_t g) {
    enum { ZEROS = 8 + 16 };
    if (!codec_chunk_is_cut(result, layer, group) || codec_chunk_is_cut(f, own, g)) return 0;
    uint32_t before = own ? formats_front_layer_end(f, own - 1, g) : 0;
    return formats_front_layer_end(f, own, g) > before ? ZEROS : 0;
}

static piece find_piece(const codec_merge *m, const formats_front *result, uint32_t layer,
                        uint32_t group) {
    size_t s = shard_of(m, group);
    const formats_front *f = &m->shard[s].front;
    int32_t at = m->shard[s].layer_at[layer];
    if (at < 0) return (piece){.shard = s};
    uint32_t own = (uint32_t)at, g = group - m->shard[s].first_group;
    uint64_t chunk = (uint64_t)own * f->groups + g;
    return (piece){s, f->front_size + f->chunk_at[chunk],
                   f->chunk_at[chunk + 1] - f->chunk_at[chunk],
                   zeros_of(result, f, layer, own, group, g)};
}

typedef struct merged_chunks {
    const codec_merge *merge;
    const formats_front *result;
} merged_chunks;

static taper_status read_merged(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                                size_t n) {
    const merged_chunks *c = user;
    piece p = find_piece(c->merge, c->result, layer, group);
    const taper_source *source = &c->merge->source[p.shard];
    size_t bytes = from >= p.length ? 0 : p.length - from < n ? (size_t)(p.length - from) : n;
    memset((uint8_t *)to + bytes, 0, n - bytes);
    return bytes ? source->read(source->user, p.at + from, to, bytes) : TAPER_OK;
}

/* --- the front matter ------------------------------------------------------------------ */

/* May this shard stand beside the first? */
static taper_status check_shard(const formats_front *a, const formats_front *b, uint64_t size,
                                size_t i, taper_error *error) {
    uint64_t end = b->front_size + b->chunk_at[(uint64_t)b->layers * b->groups];
    if (size < end)
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu is cut: %llu of its bytes are missing; fetch them, or "
                            "make it whole with `taper truncate --fraction 1`",
                            i + 1, (unsigned long long)(end - size));
    if (a->model_id != b->model_id)
        return formats_fail(error, TAPER_ERR_MODEL,
                            "container %zu was made with another model (%016llx)", i + 1,
                            (unsigned long long)b->model_id);
    if (a->layout != b->layout)
        return formats_fail(error, TAPER_ERR_ARG,
                            "container %zu has another layout; `taper repack` changes it", i + 1);
    return TAPER_OK;
}

/* The result's counts, and its arrays of images and groups. */
static taper_status size_merged(codec_merge *m, formats_front *f) {
    const formats_front *a = &m->shard[0].front;
    uint64_t images = 0, groups = 0;
    *f = (formats_front){.model_id = a->model_id, .layout = a->layout};
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        m->shard[s].first_group = (uint32_t)groups;
        m->shard[s].first_image = (uint32_t)images;
        if (b->tail && !f->tail) f->tail = 1, f->first_cut = (uint32_t)groups + b->first_cut;
        images += b->images;
        groups += b->groups;
        if (images >= UINT32_MAX) return TAPER_ERR_LIMIT;
    }
    f->images = (uint32_t)images;
    f->groups = (uint32_t)groups;
    f->geometry = calloc(images + 1, sizeof *f->geometry);
    f->group_first = calloc(groups + 1, sizeof *f->group_first);
    return f->geometry && f->group_first ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void fill_merged(const codec_merge *m, formats_front *f) {
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        uint32_t image = m->shard[s].first_image, group = m->shard[s].first_group;
        memcpy(f->geometry + image, b->geometry, b->images * sizeof *b->geometry);
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_first[group + g] = image + b->group_first[g];
    }
    f->group_first[f->groups] = f->images;
}

static taper_status fill_tracks(const codec_merge *m, formats_front *f) {
    if (f->tracks == 1) return TAPER_OK;
    f->image_track = malloc(f->images);
    f->group_track = malloc(f->groups);
    if (!f->image_track || !f->group_track) return TAPER_ERR_NOMEM;
    for (size_t s = 0; s < m->n; s++) {
        const codec_shard *shard = &m->shard[s];
        const formats_front *b = &shard->front;
        for (uint32_t i = 0; i < b->images; i++)
            f->image_track[shard->first_image + i] =
                shard->track_of[b->image_track ? b->image_track[i] : 0];
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_track[shard->first_group + g] =
                shard->track_of[b->group_track ? b->group_track[g] : 0];
    }
    return formats_front_place_images(f);
}

/* Groups keep the planes that they have raised. */
static taper_status fill_raised(const codec_merge *m, formats_front *f) {
    size_t all = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        all += b->raised_at ? b->raised_at[b->groups] : 0;
    }
    if (!all) return TAPER_OK;
    if (all > UINT32_MAX) return TAPER_ERR_LIMIT;
    f->raised_at = calloc((size_t)f->groups + 1, sizeof *f->raised_at);
    f->raised = calloc(all, sizeof *f->raised);
    if (!f->raised_at || !f->raised) return TAPER_ERR_NOMEM;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->shard[s].front;
        uint32_t *at = f->raised_at + m->shard[s].first_group;
        for (uint32_t g = 0, n; g < b->groups; g++, at++) {
            const formats_raised *raised = formats_front_raised(b, g, &n);
            if (n) memcpy(f->raised + at[0], raised, n * sizeof *raised);
            at[1] = at[0] + n;
        }
    }
    return TAPER_OK;
}

static taper_status fill_chunks(const codec_merge *m, formats_front *f) {
    uint64_t chunks = (uint64_t)f->layers * f->groups, c = 0;
    f->chunk_at = calloc((size_t)chunks + 1, sizeof *f->chunk_at);
    if (!f->chunk_at) return TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++, c++) {
            piece p = find_piece(m, f, l, g);
            f->chunk_at[c + 1] = f->chunk_at[c] + p.length + p.zeros;
        }
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    return TAPER_OK;
}

/* The first model that a shard carries: they are all the same. */
static void take_model(const codec_merge *m, formats_front *f) {
    for (size_t s = 0; s < m->n && !f->model; s++) {
        formats_front *b = &m->shard[s].front;
        f->model = b->model, b->model = NULL;
        f->model_size = b->model_size;
    }
}

static taper_status merge_fronts(codec_merge *m, formats_front *f, taper_error *error) {
    taper_status status = size_merged(m, f);
    if (status == TAPER_OK) {
        fill_merged(m, f);
        TAPER_TRY(codec_merge_layers(m, f, error));
        TAPER_TRY(codec_merge_names(m, f, error));
        TAPER_TRY(codec_merge_labels(m, f, error));
        status = fill_tracks(m, f);
    }
    if (status == TAPER_OK) status = fill_raised(m, f);
    if (status == TAPER_OK) status = fill_chunks(m, f);
    if (status == TAPER_OK) take_model(m, f);
    return status == TAPER_OK ? status
                              : formats_fail(error, status,
                                             status == TAPER_ERR_LIMIT
                                                 ? "together they hold too many images for one file"
                                                 : "no memory for the merged directory");
}

taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                         const taper_limits *limits, taper_error *error) {
    if (!n)
        return formats_fail(error, TAPER_ERR_ARG, "nothing to merge; name at least one container");
    codec_merge m = {from, calloc(n, sizeof *m.shard), n};
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
    if (status == TAPER_OK) status = merge_fronts(&m, &front, error);
    if (status == TAPER_OK) {
        merged_chunks chunks = {&m, &front};
        codec_chunks reader = {&chunks, read_merged};
        status = codec_assemble(&front, &reader, UINT64_MAX, limits, to, error);
    }
    formats_front_free(&front);
    for (size_t i = 0; m.shard && i < n; i++) {
        formats_front_free(&m.shard[i].front);
        free(m.shard[i].layer_at);
    }
    free(m.shard);
    return status;
}
