/* merge.c -- taper_merge: joins containers (shards) into one, chunk by chunk, without recoding. */
#include "codec/groups/stage_layers.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/decoder/front_load.h"
#include "codec/container/merge_layers.h"
#include "formats/also.h"
#include "formats/merge_metadata.h"
#include "formats/merge_names.h"
#include "formats/sized.h"
#include "codec/decoder/verify.h"
#include "codec/taper.h"
#include <stdlib.h>
#include <string.h>

/* The first group and image of a shard in the result. */
typedef struct shard_start {
    uint32_t group, image;
} shard_start;

/* The containers that are joined. Arrays are [n], one element per shard. */
typedef struct merging {
    const taper_source *source;
    codec_unstaged *unstaged; /* the same without stages of models in layers */
    size_t n;
    formats_front *front;
    codec_shard_layers *layers;
    shard_start *first;
} merging;

/* --- chunks ---------------------------------------------------------------------------- */

/* A chunk of the result: bytes of a shard, followed by zeros. */
typedef struct piece {
    size_t shard;
    uint64_t at, length, zeros;
} piece;

static size_t shard_of(const merging *m, uint32_t group) {
    size_t low = 0, high = m->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m->first[middle].group <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The number of zeros to append to a chunk. A complete chunk that follows a cut one in the result
 * counts as cut, too: a decoder reads it as a prefix and ignores its last bytes. A complete string
 * continues with zeros, so zeros are appended: the width of the range coder's window, and what the
 * string may omit at its end. */
static uint64_t zeros_of(const formats_front *result, const formats_front *f, uint32_t layer,
                         uint32_t own, uint32_t group, uint32_t g) {
    enum { ZEROS = 8 + 16 };
    if (!codec_chunk_is_cut(result, layer, group) || codec_chunk_is_cut(f, own, g)) return 0;
    uint32_t before = own ? formats_front_layer_end(f, own - 1, g) : 0;
    const uint64_t chunk = (uint64_t)own * f->groups + g;
    if (formats_front_layer_kind(f, own) != FORMATS_LAYER_PASSES)
        return f->chunk_at[chunk + 1] > f->chunk_at[chunk] ? ZEROS : 0;
    return formats_front_layer_end(f, own, g) > before ? ZEROS : 0;
}

static piece find_piece(const merging *m, const formats_front *result, uint32_t layer,
                        uint32_t group) {
    size_t s = shard_of(m, group);
    const formats_front *f = &m->front[s];
    int32_t at = m->layers[s].layer_at[layer];
    if (at < 0) return (piece){.shard = s};
    uint32_t own = (uint32_t)at, g = group - m->first[s].group;
    uint64_t chunk = (uint64_t)own * f->groups + g;
    return (piece){s, f->front_size + f->chunk_at[chunk],
                   f->chunk_at[chunk + 1] - f->chunk_at[chunk],
                   zeros_of(result, f, layer, own, group, g)};
}

typedef struct merged_chunks {
    const merging *merge;
    const formats_front *result;
} merged_chunks;

static taper_status read_merged(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                                size_t n) {
    const merged_chunks *c = user;
    piece p = find_piece(c->merge, c->result, layer, group);
    const taper_source *source = &c->merge->unstaged[p.shard].source;
    size_t bytes = from >= p.length ? 0 : p.length - from < n ? (size_t)(p.length - from) : n;
    memset((uint8_t *)to + bytes, 0, n - bytes);
    return bytes ? source->read(source->user, p.at + from, to, bytes) : TAPER_OK;
}

/* --- the front matter ------------------------------------------------------------------ */

/* Check that shard b can be joined with the first one, a. */
static taper_status check_shard(const formats_front *a, const formats_front *b, uint64_t size,
                                size_t i, taper_error *error) {
    uint64_t end = b->front_size + b->chunk_at[(uint64_t)b->layers * b->groups];
    if (size < end)
        return formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_BYTES_MISSING, end - size,
                                 "container %zu is cut: %llu of its bytes are missing", i + 1,
                                 (unsigned long long)(end - size));
    if (a->model_id != b->model_id)
        return formats_fail(error, TAPER_ERR_MODEL,
                            "container %zu was made with another model (%016llx)", i + 1,
                            (unsigned long long)b->model_id);
    if (a->layout != b->layout)
        return formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_LAYOUT, a->layout,
                                 "container %zu has another layout", i + 1);
    return TAPER_OK;
}

static taper_status too_many_images(taper_error *error) {
    return formats_fail(error, TAPER_ERR_LIMIT, "together they hold too many images for one file");
}

/* Set the result's counts and allocate its arrays of images and groups. */
static taper_status size_merged(merging *m, formats_front *f, taper_error *error) {
    const formats_front *a = &m->front[0];
    uint64_t images = 0, groups = 0;
    f->model_id = a->model_id, f->layout = a->layout;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        m->first[s].group = (uint32_t)groups;
        m->first[s].image = (uint32_t)images;
        if (b->tail && !f->tail) f->tail = 1, f->first_cut = (uint32_t)groups + b->first_cut;
        images += b->images;
        groups += b->groups;
        if (images >= UINT32_MAX) return too_many_images(error);
    }
    f->images = (uint32_t)images;
    f->groups = (uint32_t)groups;
    TAPER_TRY(formats_front_take(f, images, sizeof *f->geometry, &f->geometry, error));
    return formats_front_take(f, groups, sizeof *f->group_first, &f->group_first, error);
}

static void fill_merged(const merging *m, formats_front *f) {
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        uint32_t image = m->first[s].image, group = m->first[s].group;
        memcpy(f->geometry + image, b->geometry, b->images * sizeof *b->geometry);
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_first[group + g] = image + b->group_first[g];
    }
    f->group_first[f->groups] = f->images;
}

static taper_status fill_rate_classes(const merging *m, formats_front *f, taper_error *error) {
    if (f->rate_classes == 1) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, f->images, 1, &f->image_rate_class, error));
    TAPER_TRY(formats_front_take(f, f->groups, 1, &f->group_rate_class, error));
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        const uint8_t *rate_class_of = m->layers[s].rate_class_of;
        for (uint32_t i = 0; i < b->images; i++)
            f->image_rate_class[m->first[s].image + i] =
                rate_class_of[b->image_rate_class ? b->image_rate_class[i] : 0];
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_rate_class[m->first[s].group + g] =
                rate_class_of[formats_front_rate_class(b, g)];
    }
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    taper_status status = formats_front_place_images(f);
    return status == TAPER_OK ? status
                              : formats_fail(error, status, "no memory for the merged directory");
}

/* Copy the raised planes of all groups. */
static taper_status fill_raised(const merging *m, formats_front *f, taper_error *error) {
    size_t all = 0;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        all += b->raised_at ? b->raised_at[b->groups] : 0;
    }
    if (!all) return TAPER_OK;
    if (all > UINT32_MAX) return too_many_images(error);
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->raised_at, &f->raised_at, error));
    TAPER_TRY(formats_front_take(f, all, sizeof *f->raised, &f->raised, error));
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        uint32_t *at = f->raised_at + m->first[s].group;
        for (uint32_t g = 0, n; g < b->groups; g++, at++) {
            const formats_raised *raised = formats_front_raised(b, g, &n);
            if (n) memcpy(f->raised + at[0], raised, n * sizeof *raised);
            at[1] = at[0] + n;
        }
    }
    return TAPER_OK;
}

static taper_status fill_chunks(const merging *m, formats_front *f, taper_error *error) {
    uint64_t chunks = (uint64_t)f->layers * f->groups, c = 0;
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++, c++) {
            piece p = find_piece(m, f, l, g);
            f->chunk_at[c + 1] = f->chunk_at[c] + p.length + p.zeros;
        }
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    return TAPER_OK;
}

/* Take each model from the first shard that carries it; all copies are equal. */
static void take_models(const merging *m, formats_front *f) {
    for (size_t s = 0; s < m->n; s++) {
        formats_front *b = &m->front[s];
        if (!f->model) {
            f->model = b->model, b->model = NULL;
            f->model_size = b->model_size;
        }
        if (!f->search_model) {
            f->search_model = b->search_model, b->search_model = NULL;
            f->search_model_size = b->search_model_size;
        }
    }
}

static taper_status refuse_search_codes(const formats_front *a, const formats_front *b, size_t i,
                                        taper_error *error) {
    formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_SEARCH_CODES, a->search_model_id,
                      "container %zu has codes for search of %u bits by model %016llx (0: it has "
                      "none), the first has %u by %016llx",
                      i + 1, b->search_bits, (unsigned long long)b->search_model_id, a->search_bits,
                      (unsigned long long)a->search_model_id);
    if (error) error->item = i + 1;
    return TAPER_ERR_ARG;
}

/* Join the search codes, if all shards have codes of one model and one length; otherwise none. */
static taper_status fill_search_codes(const merging *m, formats_front *f, taper_error *error) {
    const formats_front *a = &m->front[0];
    const size_t each = formats_front_search_bytes(a);
    for (size_t s = 1; s < m->n; s++)
        if (m->front[s].search_bits != a->search_bits ||
            (a->search_bits && m->front[s].search_model_id != a->search_model_id))
            return refuse_search_codes(a, &m->front[s], s, error);
    if (!a->search_bits) return TAPER_OK;
    f->search_bits = a->search_bits, f->search_model_id = a->search_model_id;
    TAPER_TRY(formats_front_take(f, f->images, each, &f->search_codes, error));
    for (size_t s = 0; s < m->n; s++)
        memcpy(f->search_codes + m->first[s].image * each, m->front[s].search_codes,
               m->front[s].images * each);
    return TAPER_OK;
}

/* Tell the names that changed. Images without a name get one; only an added folder is a change. */
static void tell_names(const merging *m, const formats_front *f, const taper_merge_options *o) {
    uint32_t image = 0, also = 0;
    if (!o->renamed || !f->names) return;
    for (size_t s = 0; s < m->n; s++) {
        for (uint32_t i = 0; i < m->front[s].images; i++, image++) {
            const char *before = formats_front_name(&m->front[s], i),
                       *after = formats_front_name(f, image);
            if (before ? strcmp(before, after) != 0 : strchr(after, '/') != NULL)
                o->renamed(o->user, before, after);
        }
        for (uint32_t k = 0; k < m->front[s].alsos; k++, also++) {
            const char *before = formats_also_name(&m->front[s], k),
                       *after = formats_also_name(f, also);
            if (strcmp(before, after) != 0) o->renamed(o->user, before, after);
        }
    }
}

static taper_status merge_fronts(merging *m, formats_front *f, taper_error *error) {
    TAPER_TRY(size_merged(m, f, error));
    fill_merged(m, f);
    TAPER_TRY(codec_merge_layers(m->front, m->n, m->layers, f, error));
    TAPER_TRY(formats_merge_further_names(m->front, m->n, f, error));
    TAPER_TRY(formats_merge_names(m->front, m->n, f, error));
    TAPER_TRY(formats_merge_labels(m->front, m->n, f, error));
    TAPER_TRY(formats_merge_metadata(m->front, m->n, f, error));
    TAPER_TRY(fill_search_codes(m, f, error));
    TAPER_TRY(fill_rate_classes(m, f, error));
    TAPER_TRY(fill_raised(m, f, error));
    TAPER_TRY(fill_chunks(m, f, error));
    take_models(m, f);
    return TAPER_OK;
}

/* Reject damaged models or chunks; the message names the container. */
static taper_status refuse_broken(formats_front *f, const taper_source *source,
                                  const taper_limits *limits, size_t i, taper_error *error) {
    taper_error why = {0};
    taper_status status = codec_front_check_models(f, 0, limits, &why);
    if (status == TAPER_OK) status = codec_refuse_damage(f, source, UINT64_MAX, NULL, &why);
    return status == TAPER_OK
               ? status
               : formats_fail_as(error, status, &why, "container %zu: %s", i + 1, why.text);
}

/* Load and check the front matter of shard i; charges the account of the result. */
static taper_status load_front(merging *m, size_t i, formats_front *result,
                               const taper_limits *limits, taper_error *error) {
    formats_front *f = &m->front[i];
    const taper_limits left = formats_limits_minus(limits, result->account.used);
    TAPER_TRY(codec_front_load(&m->source[i], &left, f, error));
    TAPER_TRY(formats_front_charge(result, f->account.used, error));
    TAPER_TRY(check_shard(&m->front[0], f, m->source[i].size, i, error));
    TAPER_TRY(refuse_broken(f, &m->source[i], &left, i, error));
    const uint64_t before = f->account.used;
    TAPER_TRY(codec_front_load_stages(f, &m->source[i], error));
    TAPER_TRY(codec_stage_layers_remove(f, &m->source[i], &m->unstaged[i], error));
    return formats_front_charge(result, f->account.used - before, error);
}

static taper_status load_fronts(merging *m, formats_front *result, const taper_limits *limits,
                                taper_error *error) {
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < m->n && status == TAPER_OK; i++) {
        status = load_front(m, i, result, limits, error);
        if (status != TAPER_OK && error) error->item = i + 1;
    }
    return status;
}

taper_status taper_merge(const taper_source *from, size_t n, const taper_sink *to,
                         const taper_merge_options *options, taper_error *error) {
    taper_merge_options o;
    if (!n)
        return formats_fail(error, TAPER_ERR_ARG, "nothing to merge; name at least one container");
    TAPER_TRY(formats_need_array(from, n, sizeof *from, "the containers", error));
    for (size_t i = 0; i < n; i++) TAPER_TRY(formats_need_source(&from[i], error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_sized_take(&o, sizeof o, options, "taper_merge_options", error));
    taper_limits limits;
    TAPER_TRY(formats_limits_take(&limits, o.limits, error));
    formats_front front = {.account = formats_account_within(&limits)};
    merging m = {.source = from, .n = n};
    taper_status status = formats_front_take(&front, n, sizeof *m.front, &m.front, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.layers, &m.layers, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.first, &m.first, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.unstaged, &m.unstaged, error);
    if (status == TAPER_OK) status = load_fronts(&m, &front, &limits, error);
    if (status == TAPER_OK) status = merge_fronts(&m, &front, error);
    if (status == TAPER_OK) {
        tell_names(&m, &front, &o);
        merged_chunks chunks = {&m, &front};
        codec_chunks reader = {&chunks, read_merged};
        codec_stage_layers stages;
        status = codec_stage_layers_insert(&front, &reader, &limits, &stages, error);
        if (status == TAPER_OK)
            status = codec_assemble(&front, &stages.chunks, UINT64_MAX, &limits, to, error);
        codec_stage_layers_free(&stages);
    }
    formats_front_free(&front);
    for (size_t i = 0; m.front && i < n; i++) formats_front_free(&m.front[i]);
    for (size_t i = 0; m.layers && i < n; i++) free(m.layers[i].layer_at);
    free(m.front), free(m.layers), free(m.first), free(m.unstaged);
    return status;
}
