/* front_load.c -- see front_load.h. */
#include "codec/decoder/front_load.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/model/builtin_models.h"
#include "formats/model_file.h"
#include "formats/packed.h"
#include <string.h>

taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error) {
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_step(limits, 2 * bytes),
        "the container's front matter of %llu bytes takes more memory than the limit of %llu",
        (unsigned long long)bytes, (unsigned long long)limits->max_memory);
}

uint32_t codec_front_next_stage(const formats_front *f) {
    formats_model_places places, first;
    if (!f->has_stages || !f->model) return UINT32_MAX;
    if (formats_model_find_stages(f->model, f->model_size, &places, NULL) != TAPER_OK ||
        formats_model_find_stages(f->model, f->model_in_front, &first, NULL) != TAPER_OK)
        return UINT32_MAX;
    uint32_t skip = places.known - first.known;
    for (uint32_t l = 0; l < f->layers; l++)
        if (formats_front_layer_kind(f, l) == FORMATS_LAYER_MODEL && !skip--) return l;
    return UINT32_MAX;
}

taper_status codec_front_add_stage(formats_front *f, const void *bytes, size_t size,
                                   taper_error *error) {
    uint8_t *whole;
    formats_model_places places;
    TAPER_TRY(formats_model_find_stages(f->model, f->model_size, &places, error));
    if (places.known == places.n || formats_crc32c(0, bytes, size) != places.crc[places.known])
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "stage %u of the container's model is damaged (checksum); fetch the "
                            "file again",
                            places.known + 1);
    TAPER_TRY(formats_front_take(f, (uint64_t)f->model_size + size, 1, &whole, error));
    memcpy(whole, f->model, f->model_size);
    memcpy(whole + f->model_size, bytes, size);
    formats_unpack_free(f, f->model, f->model_size);
    f->model = whole, f->model_size += size;
    return TAPER_OK;
}

void codec_front_drop_stage(formats_front *f, size_t size) {
    f->model_size -= size;
    formats_account_give(formats_front_account(f), size);
}

taper_status codec_front_load_stages(formats_front *f, const taper_source *source,
                                     taper_error *error) {
    uint32_t layer;
    while ((layer = codec_front_next_stage(f)) < UINT32_MAX) {
        const codec_file_range at = codec_layer_range(f, NULL, layer);
        if (at.at > source->size || at.size > source->size - at.at) return TAPER_OK;
        uint8_t *bytes;
        TAPER_TRY(formats_front_take(f, at.size, 1, &bytes, error));
        taper_status status = codec_source_read(source, at.at, bytes, (size_t)at.size, error);
        const int is_read = status == TAPER_OK;
        if (is_read) status = codec_front_add_stage(f, bytes, (size_t)at.size, error);
        formats_unpack_free(f, bytes, at.size);
        if (is_read && status == TAPER_ERR_CORRUPT) return TAPER_OK;
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

/* The bytes of the model, as far as it was read, that come before the cut in whole stages. */
static size_t model_before(const formats_front *f, uint64_t cut) {
    uint64_t size = f->model_in_front;
    for (uint32_t layer = 0; layer < f->layers && size < f->model_size; layer++) {
        if (formats_front_layer_kind(f, layer) != FORMATS_LAYER_MODEL) continue;
        const codec_file_range at = codec_layer_range(f, NULL, layer);
        if (at.at + at.size > cut) break;
        size += at.size;
    }
    return (size_t)size;
}

taper_status codec_front_cut_model(const formats_front *f, uint64_t cut, const taper_limits *limits,
                                   taper_model **out, taper_error *error) {
    *out = NULL;
    if (!f->has_stages || !f->model) return TAPER_OK;
    const size_t size = model_before(f, cut);
    return size < f->model_size ? taper_model_load_stages(out, f->model, size, limits, error)
                                : TAPER_OK;
}

taper_status codec_front_load(const taper_source *source, const taper_limits *given,
                              formats_front *front, taper_error *error) {
    taper_limits limits = formats_limits_or_default(given);
    formats_account account = formats_account_within(&limits);
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    uint64_t need = FORMATS_HEADER_SIZE;
    bytes.account = &account;
    memset(front, 0, sizeof *front);
    while (status == TAPER_OK && bytes.size < need) {
        uint64_t have = bytes.size, want = need < source->size ? need : source->size;
        if (want <= have) break;
        uint8_t *to = formats_buffer_extend(&bytes, (size_t)(want - have));
        if (!to && bytes.status == TAPER_ERR_LIMIT)
            status = codec_front_refuse(&limits, want, error);
        else if (!to)
            status =
                formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's front matter");
        if (status == TAPER_OK)
            status = codec_source_read(source, have, to, (size_t)(want - have), error);
        if (status == TAPER_OK) status = formats_front_need(bytes.data, bytes.size, &need, error);
    }
    limits = formats_limits_minus(&limits, account.used); /* both are in memory at once */
    if (status == TAPER_OK)
        status = formats_front_read(bytes.size ? bytes.data : (const uint8_t *)"", bytes.size,
                                    &limits, front, error);
    if (status == TAPER_OK)
        front->account.limit = account.limit, front->account.taken = account.taken;
    formats_buffer_free(&bytes);
    return status;
}

taper_source codec_front_drawn(const formats_front *front, const taper_source *source) {
    taper_source rendered = *source;
    if (source->size > front->front_size)
        rendered.size =
            front->front_size + formats_front_drawn(front, source->size - front->front_size);
    return rendered;
}

static taper_status load_carried(const uint8_t *bytes, size_t size, int stages,
                                 const taper_limits *limits, taper_model **out,
                                 taper_error *error) {
    taper_error why = {0};
    taper_status status = stages ? taper_model_load_stages(out, bytes, size, limits, &why)
                                 : taper_model_load(out, bytes, size, limits, &why);
    if (status == TAPER_OK) return status;
    if (status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the model in the container is damaged (it ends too early); fetch the "
                            "file again");
    if (error) *error = why;
    return status;
}

/* The model that the front carries. */
static taper_status load_own(const formats_front *front, const taper_limits *limits,
                             taper_model **out, taper_error *error) {
    TAPER_TRY(load_carried(front->model, front->model_size, front->has_stages, limits, out, error));
    const uint64_t id = (*out)->info.id;
    if (id == front->model_id) return TAPER_OK;
    taper_model_free(*out);
    *out = NULL;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the container was made with model %016llx but carries %016llx; fetch the "
                        "file again",
                        (unsigned long long)front->model_id, (unsigned long long)id);
}

taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error) {
    codec_builtin_model builtin;
    *out = NULL;
    if ((!front->model || front->has_stages) && codec_builtin_model_of(front->model_id, &builtin))
        return codec_builtin_model_open(&builtin, limits, out, error);
    if (!front->model)
        return formats_fail_fact(error, TAPER_ERR_MODEL, TAPER_FACT_MODEL, front->model_id,
                                 "container does not carry its model %016llx",
                                 (unsigned long long)front->model_id);
    return load_own(front, limits, out, error);
}

taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error) {
    taper_error why = {0};
    const taper_status status =
        load_carried(front->search_model, front->search_model_size, 0, limits, out, &why);
    if (status)
        return formats_fail_as(error, status, &why, "the model for search in the container: %s",
                               why.text);
    const taper_model_info info = (*out)->info;
    if (info.binary && info.id == front->search_model_id && info.units >= front->search_bits)
        return TAPER_OK;
    taper_model_free(*out);
    *out = NULL;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the model for search in the container, %016llx of %u %s, is not that of "
                        "its codes for search, %016llx of %u bits",
                        (unsigned long long)info.id, info.units, info.binary ? "bits" : "numbers",
                        (unsigned long long)front->search_model_id, front->search_bits);
}

taper_status codec_front_match_images(const formats_front *front, const taper_model *model,
                                      taper_error *error) {
    for (uint32_t g = 0, n; front->raised_at && g < front->groups; g++) {
        const formats_raised *raised = formats_front_raised(front, g, &n);
        if (!codec_raised_planes_fit(&model->tables, raised, n))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "group %u raises planes that its model cannot have",
                                front->first_group + g);
    }
    for (uint32_t i = 0; i < front->images; i++)
        if (front->geometry[i].channels > model->window.channels)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "image %u is in colour but the model is grey",
                                front->first_image + i + 1);
    return TAPER_OK;
}

taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error) {
    if (front->model_id != model->info.id)
        return formats_fail_fact(error, TAPER_ERR_MODEL, TAPER_FACT_MODEL, front->model_id,
                                 "container was made with model %016llx, this is %016llx",
                                 (unsigned long long)front->model_id,
                                 (unsigned long long)model->info.id);
    if (!codec_network_has_decoder(&model->network))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims an embedding model, which has no decoder");
    uint32_t passes = formats_front_passes(front, front->layers - 1);
    if (passes > model->tables.n_passes)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims %u passes, its model has %u", passes,
                            model->tables.n_passes);
    return front->geometry ? codec_front_match_images(front, model, error) : TAPER_OK;
}

/* Keep only those errors of a model check that say that the model is damaged. */
static taper_status only_damage(taper_status status, const taper_error *why, taper_error *error) {
    if (status != TAPER_ERR_CORRUPT && status != TAPER_ERR_NOMEM) return TAPER_OK;
    if (error) *error = *why;
    return status;
}

taper_status codec_front_check_models(const formats_front *front, int is_known,
                                      const taper_limits *limits, taper_error *error) {
    taper_error why = {0};
    taper_model *model = NULL;
    if (front->model && !is_known) {
        taper_status status = load_own(front, limits, &model, &why);
        if (status == TAPER_OK) status = codec_front_match(front, model, &why);
        taper_model_free(model);
        TAPER_TRY(only_damage(status, &why, error));
    }
    if (!front->search_model) return TAPER_OK;
    const taper_status status = codec_front_search_model(front, limits, &model, &why);
    if (status == TAPER_OK) taper_model_free(model);
    return only_damage(status, &why, error);
}
