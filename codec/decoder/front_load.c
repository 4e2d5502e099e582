/* front_load.c -- see front_load.h. */
#include "codec/decoder/front_load.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/model/builtin_models.h"
#include <string.h>

taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error) {
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_step(limits, 2 * bytes),
        "the container's front matter of %llu bytes takes more memory than the limit of %llu",
        (unsigned long long)bytes, (unsigned long long)limits->max_memory);
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

static taper_status load_carried(const uint8_t *bytes, size_t size, const taper_limits *limits,
                                 taper_model **out, taper_error *error) {
    taper_error why = {0};
    taper_status status = taper_model_load(out, bytes, size, limits, &why);
    if (status == TAPER_OK) return status;
    if (status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the model in the container is damaged (it ends too early); fetch the "
                            "file again");
    if (error) *error = why;
    return status;
}

taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error) {
    codec_builtin_model builtin;
    *out = NULL;
    if (!front->model && codec_builtin_model_of(front->model_id, &builtin))
        return codec_builtin_model_open(&builtin, limits, out, error);
    if (!front->model)
        return formats_fail_fact(error, TAPER_ERR_MODEL, TAPER_FACT_MODEL, front->model_id,
                                 "container does not carry its model %016llx",
                                 (unsigned long long)front->model_id);
    TAPER_TRY(load_carried(front->model, front->model_size, limits, out, error));
    const uint64_t id = (*out)->info.id;
    if (id == front->model_id) return TAPER_OK;
    taper_model_free(*out);
    *out = NULL;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the container was made with model %016llx but carries %016llx; fetch the "
                        "file again",
                        (unsigned long long)front->model_id, (unsigned long long)id);
}

taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error) {
    taper_error why = {0};
    const taper_status status =
        load_carried(front->search_model, front->search_model_size, limits, out, &why);
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
        taper_status status = codec_front_model(front, limits, &model, &why);
        if (status == TAPER_OK) status = codec_front_match(front, model, &why);
        taper_model_free(model);
        TAPER_TRY(only_damage(status, &why, error));
    }
    if (!front->search_model) return TAPER_OK;
    const taper_status status = codec_front_search_model(front, limits, &model, &why);
    if (status == TAPER_OK) taper_model_free(model);
    return only_damage(status, &why, error);
}
