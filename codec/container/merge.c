/* merge.c -- taper_merge: joins containers (shards) into one, chunk by chunk, without recoding. */
#include "codec/container/merge_chunks.h"
#include "codec/decoder/front_load.h"
#include "codec/decoder/open_container.h"
#include "formats/also.h"
#include "formats/merge_metadata.h"
#include "formats/merge_names.h"
#include "formats/sized.h"
#include "codec/decoder/verify.h"
#include "codec/taper.h"
#include <stdlib.h>
#include <string.h>

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
static taper_status size_merged(codec_merging *m, formats_front *f, taper_error *error) {
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

static void fill_merged(const codec_merging *m, formats_front *f) {
    for (size_t s = 0; s < m->n; s++) {
        const formats_front *b = &m->front[s];
        uint32_t image = m->first[s].image, group = m->first[s].group;
        memcpy(f->geometry + image, b->geometry, b->images * sizeof *b->geometry);
        for (uint32_t g = 0; g < b->groups; g++)
            f->group_first[group + g] = image + b->group_first[g];
    }
    f->group_first[f->groups] = f->images;
}

static taper_status fill_rate_classes(const codec_merging *m, formats_front *f,
                                      taper_error *error) {
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
    return TAPER_OK;
}

/* Done when the shards have been freed. */
static taper_status place_images(formats_front *f, taper_error *error) {
    if (f->rate_classes == 1) return TAPER_OK;
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    taper_status status = formats_front_place_images(f);
    return status == TAPER_OK ? status
                              : formats_fail(error, status, "no memory for the merged directory");
}

/* Copy the raised planes of all groups. */
static taper_status fill_raised(const codec_merging *m, formats_front *f, taper_error *error) {
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

/* Take each model from the first shard that carries it; all copies are equal. */
static void take_models(codec_merging *m, formats_front *f) {
    for (size_t s = 0; s < m->n; s++) {
        formats_front *b = &m->front[s];
        if (!f->model) {
            f->model = b->model, b->model = NULL;
            f->model_size = b->model_size;
            if (f->model) m->charged -= f->model_size + 1;
        }
        if (!f->search_model) {
            f->search_model = b->search_model, b->search_model = NULL;
            f->search_model_size = b->search_model_size;
            if (f->search_model) m->charged -= f->search_model_size + 1;
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
static taper_status fill_search_codes(const codec_merging *m, formats_front *f,
                                      taper_error *error) {
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
static void tell_names(const codec_merging *m, const formats_front *f,
                       const taper_merge_options *o) {
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

static taper_status merge_fronts(codec_merging *m, formats_front *f, const taper_limits *limits,
                                 taper_error *error) {
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
    take_models(m, f);
    TAPER_TRY(codec_merge_pad(m, f, limits, error));
    return codec_merge_place(m, f, error);
}

/* Reject damaged models, and damaged layers with their stages; the message names the container.
 * Other chunks are tested later. */
static taper_status refuse_broken(formats_front *f, const taper_source *source,
                                  const taper_limits *limits, size_t i, taper_error *error) {
    taper_error why = {0};
    taper_status status = codec_front_check_models(f, 0, limits, &why);
    if (status == TAPER_OK && f->has_stages)
        status = codec_refuse_damage(f, source, UINT64_MAX, NULL, &why);
    return status == TAPER_OK
               ? status
               : formats_fail_as(error, status, &why, "container %zu: %s", i + 1, why.text);
}

/* Take the front matter of an open container, and close it. */
static taper_status take_front(taper_container **open, const taper_limits *limits, formats_front *f,
                               taper_error *error) {
    taper_container *c = *open;
    if (!c || !c->source.read || c->root.leaves || !c->front.chunk_at)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the open containers must be those that taper_container_open gave");
    *f = c->front;
    f->account.limit = limits->max_memory > f->account.used ? limits->max_memory : f->account.used;
    f->account.taken = limits->taken;
    memset(&c->front, 0, sizeof c->front);
    taper_container_close(c);
    *open = NULL;
    return TAPER_OK;
}

/* Set where the data of shard i are read. */
static taper_status remove_stages(codec_merging *m, size_t i, formats_front *result,
                                  taper_error *error) {
    m->data[i] = m->source[i];
    if (!m->front[i].has_stages) return TAPER_OK;
    TAPER_TRY(formats_front_take(result, 1, sizeof *m->unstaged[i], &m->unstaged[i], error));
    TAPER_TRY(codec_stage_layers_remove(&m->front[i], &m->source[i], m->unstaged[i], error));
    m->data[i] = m->unstaged[i]->source;
    return TAPER_OK;
}

/* Load and check the front matter of shard i; charges the account of the result. */
static taper_status load_front(codec_merging *m, size_t i, formats_front *result,
                               const taper_limits *limits, taper_error *error) {
    formats_front *f = &m->front[i];
    const taper_limits left = formats_limits_minus(limits, result->account.used);
    TAPER_TRY(m->open ? take_front(&m->open[i], &left, f, error)
                      : codec_front_load(&m->source[i], &left, f, error));
    TAPER_TRY(formats_front_charge(result, f->account.used, error));
    m->charged += f->account.used;
    TAPER_TRY(check_shard(&m->front[0], f, m->source[i].size, i, error));
    TAPER_TRY(refuse_broken(f, &m->source[i], &left, i, error));
    const uint64_t before = f->account.used;
    TAPER_TRY(codec_front_load_stages(f, &m->source[i], error));
    TAPER_TRY(remove_stages(m, i, result, error));
    TAPER_TRY(formats_front_charge(result, f->account.used - before, error));
    m->charged += f->account.used - before;
    return TAPER_OK;
}

static taper_status load_fronts(codec_merging *m, formats_front *result, const taper_limits *limits,
                                taper_error *error) {
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < m->n && status == TAPER_OK; i++) {
        status = load_front(m, i, result, limits, error);
        if (status != TAPER_OK && error) error->item = i + 1;
    }
    return status;
}

/* Test all chunks, and write the result. */
static taper_status write_merged(codec_merging *m, formats_front *f, const taper_limits *limits,
                                 const taper_sink *to, taper_error *error) {
    codec_merged_chunks merged;
    codec_stage_layers stages = {.front = NULL};
    TAPER_TRY(codec_merge_keep(m, f, error));
    TAPER_TRY(place_images(f, error));
    taper_status status = codec_merge_check(m, f, &merged, error);
    if (status == TAPER_OK)
        status = codec_stage_layers_insert(f, &merged.chunks, limits, &stages, error);
    if (status == TAPER_OK)
        status = codec_assemble(f, &stages.chunks, UINT64_MAX, limits, to, error);
    codec_stage_layers_free(&stages);
    codec_merged_chunks_free(&merged);
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
    codec_merging m = {.source = from, .open = o.open, .model = o.model, .n = n};
    taper_status status = formats_front_take(&front, n, sizeof *m.front, &m.front, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.layers, &m.layers, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.first, &m.first, error);
    if (status == TAPER_OK)
        status = formats_front_take(&front, n, sizeof *m.unstaged, &m.unstaged, error);
    if (status == TAPER_OK) status = formats_front_take(&front, n, sizeof *m.data, &m.data, error);
    if (status == TAPER_OK) status = load_fronts(&m, &front, &limits, error);
    if (status == TAPER_OK) status = merge_fronts(&m, &front, &limits, error);
    if (status == TAPER_OK) {
        tell_names(&m, &front, &o);
        status = write_merged(&m, &front, &limits, to, error);
    }
    formats_front_free(&front);
    codec_merge_free(&m);
    return status;
}
