/* decoder.c -- taper_decoder_*: see taper.h and decoder.h. A group_reader decodes each group. */
#include "codec/decoder/decoder.h"
#include "formats/sized.h"
#include <stdlib.h>
#include <string.h>

/* --- opening --------------------------------------------------------------------------- */

static taper_decoder *make(const taper_limits *limits, codec_feed feed, taper_error *error) {
    taper_decoder *d = calloc(1, sizeof *d);
    if (!d) formats_fail(error, TAPER_ERR_NOMEM, "no memory for a decoder");
    if (!d) return NULL;
    d->feed = feed;
    d->limits = *limits;
    d->asked_passes = d->passes = d->supplying.groups.pass_limit = UINT32_MAX;
    d->account = formats_account_within(limits);
    d->reading.readers.account = &d->account;
    d->reading.readers.pass_limit = d->reading.pass_limit;
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) d->reading.pass_limit[t] = UINT32_MAX;
    codec_backend_cpu(&d->backend);
    return d;
}

/* The limits of a decoder. What its container may take beyond them counts as taken, so that
 * messages propose a limit for both. */
static taper_limits limits_of(const taper_container *c, uint64_t max_memory) {
    if (!max_memory || max_memory >= c->limits.max_memory) return c->limits;
    return formats_limits_minus(&c->limits, c->limits.max_memory - max_memory);
}

/* Stages of the model behind the cut are not used: the pixels are those of a file that ends there.
 * A model that the caller gave is used as it is. */
static taper_status cut_model(taper_decoder *d, taper_error *error) {
    const taper_container *c = d->container;
    const taper_limits limits = formats_limits_minus(&d->limits, d->account.used);
    if (!d->cut || !c->own_model) return TAPER_OK;
    return codec_front_cut_model(&c->front, d->cut, &limits, &d->cut_model, error);
}

taper_status taper_decoder_new(taper_decoder **out, const taper_container *container,
                               const taper_decode_options *options, taper_error *error) {
    taper_decode_options o;
    TAPER_TRY(formats_need(out, "the decoder's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(container, "the container", error));
    TAPER_TRY(formats_sized_take(&o, sizeof o, options, "taper_decode_options", error));
    if (!container->source.read)
        return formats_fail(error, TAPER_ERR_ARG, "this container is of a streaming decoder");
    if (!container->model)
        return formats_fail_fact(error, TAPER_ERR_MODEL, TAPER_FACT_MODEL,
                                 container->front.model_id,
                                 "the container was opened without its model");
    const taper_limits limits = limits_of(container, o.max_memory);
    if (container->front.account.used > limits.max_memory)
        return codec_front_refuse(&limits, container->front.account.used, error);
    const uint64_t front = container->front.front_size;
    if (o.cut && o.cut < front)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "incomplete header, need %llu more byte%s",
                            (unsigned long long)(front - o.cut),
                            formats_plural(front - o.cut, "s"));
    taper_decoder *d = make(&limits, CODEC_FEED_SOURCE, error);
    if (!d) return TAPER_ERR_NOMEM;
    taper_source source = container->source;
    if (o.cut && o.cut < source.size) source.size = o.cut;
    d->container = container;
    d->cut = o.cut;
    if (o.passes) d->asked_passes = d->passes = o.passes;
    d->reading.source = codec_front_drawn(&container->front, &source);
    d->account.used = container->front.account.used;
    d->front_ready = 1;
    const taper_status status = cut_model(d, error);
    if (status == TAPER_OK)
        *out = d;
    else
        taper_decoder_free(d);
    return status;
}

taper_status taper_decoder_new_streaming(taper_decoder **out, const taper_open_options *options,
                                         taper_error *error) {
    taper_open_options o;
    TAPER_TRY(formats_need(out, "the decoder's place", error));
    *out = NULL;
    TAPER_TRY(formats_sized_take(&o, sizeof o, options, "taper_open_options", error));
    taper_limits limits;
    TAPER_TRY(formats_limits_take(&limits, o.limits, error));
    if (o.without_model)
        return formats_fail(error, TAPER_ERR_ARG, "a decoder cannot be without a model");
    taper_decoder *d = make(&limits, CODEC_FEED_UNKNOWN, error);
    if (!d) return TAPER_ERR_NOMEM;
    d->container = &d->own;
    d->own.limits = limits;
    d->given_model = o.model;
    d->need = FORMATS_HEADER_SIZE;
    d->pushing.head = formats_buffer_make(FORMATS_MOST_BYTES);
    d->pushing.waiting = formats_buffer_make(FORMATS_MOST_BYTES);
    d->pushing.stage = formats_buffer_make(FORMATS_MOST_BYTES);
    d->pushing.head.account = d->pushing.waiting.account = d->pushing.stage.account = &d->account;
    d->supplying.held.account = d->supplying.groups.account = &d->account;
    *out = d;
    return TAPER_OK;
}

void codec_decoder_free_helpers(taper_decoder *d) {
    for (unsigned t = 0; t < d->helpers; t++) taper_decoder_free(d->helper[t]);
    free(d->helper);
    d->helper = NULL, d->helpers = 0;
}

void taper_decoder_free(taper_decoder *d) {
    if (!d) return;
    for (uint32_t g = 0; d->pushing.reader && g < d->own.front.groups; g++) {
        codec_group_reader_close(d->pushing.reader[g]);
        free(d->pushing.reader[g]);
    }
    free(d->pushing.reader);
    formats_buffer_free(&d->pushing.head), formats_buffer_free(&d->pushing.waiting);
    formats_buffer_free(&d->pushing.stage);
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) {
        codec_strip_renderer_end(&d->rendered[t].earlier);
        free(d->rendered[t].value);
    }
    codec_group_readers_close(&d->reading.readers);
    codec_kept_groups_free(&d->supplying.groups);
    codec_byte_store_free(&d->supplying.held);
    codec_backend_close(&d->backend);
    codec_small_basis_free(&d->small);
    codec_decoder_free_helpers(d);
    codec_container_empty(&d->own);
    taper_model_free(d->cut_model);
    free(d);
}

const taper_container *taper_decoder_container(const taper_decoder *d) {
    return d && d->front_ready ? d->container : NULL;
}

taper_status taper_decoder_set_threads(taper_decoder *d, unsigned threads, taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    const taper_status status = codec_backend_set_threads(&d->backend, threads);
    codec_pool *pool = d->reading.readers.pool = d->backend.pool;
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        d->reading.readers.of_rate_class[t].strips.pool = pool;
    codec_kept_groups_set_pool(&d->supplying.groups, pool);
    for (uint32_t g = 0; d->pushing.reader && g < d->own.front.groups; g++)
        if (d->pushing.reader[g]) d->pushing.reader[g]->strips.pool = pool;
    return status == TAPER_OK ? status : formats_fail(error, status, "no memory for threads");
}

/* --- scales ---------------------------------------------------------------------------- */

taper_status codec_decoder_check_scale(uint32_t scale, taper_error *error) {
    if (scale == 1 || scale == 2 || scale == 4 || scale == 8 || scale == CODEC_SMALL_MOST_SCALE)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "the scale is %u, but must be 1, 2, 4, 8 or 16",
                        (unsigned)scale);
}

void codec_decoder_drop_basis(taper_decoder *d) {
    formats_account_give(&d->account, codec_small_basis_bytes(&d->small));
    codec_small_basis_free(&d->small);
}

taper_status codec_decoder_make_basis(taper_decoder *d, uint32_t scale, taper_error *error) {
    if (d->small.scale == scale) return TAPER_OK;
    codec_decoder_drop_basis(d);
    const taper_status status = codec_model_make_small(codec_decoder_model(d), scale, &d->small);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for the model at 1/%u", (unsigned)scale);
    (void)formats_account_take(&d->account, codec_small_basis_bytes(&d->small));
    return TAPER_OK;
}

/* The passes that show at the decoder's scale. */
static taper_status passes_of_scale(taper_decoder *d, uint32_t *passes, taper_error *error) {
    const taper_model *m = codec_decoder_model(d);
    *passes = UINT32_MAX;
    if (m->unit_is_missing || d->container->front.has_stages) return TAPER_OK;
    if (d->scale < 2 || !codec_model_has_small(m, d->scale)) return TAPER_OK;
    const uint64_t bytes = codec_small_basis_most_bytes(m->network.units, m->window, d->scale);
    if (d->small.scale != d->scale && formats_account_left(&d->account) < bytes)
        return codec_decoder_refuse(d, d->account.used + bytes, error);
    TAPER_TRY(codec_decoder_make_basis(d, d->scale, error));
    if (codec_model_scale_passes(m, &d->small, passes) == TAPER_OK) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the model at 1/%u",
                        (unsigned)d->scale);
}

taper_status codec_decoder_apply_scale(taper_decoder *d, taper_error *error) {
    uint32_t passes;
    TAPER_TRY(passes_of_scale(d, &passes, error));
    if (passes > d->asked_passes) passes = d->asked_passes;
    if (passes != d->passes) { /* these have this number */
        codec_decoder_free_helpers(d);
        d->strips.is_known = 0;
    }
    d->passes = d->supplying.groups.pass_limit = passes;
    return TAPER_OK;
}

taper_status taper_decoder_set_scale(taper_decoder *d, uint32_t scale, taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(codec_decoder_check_scale(scale, error));
    if (d->feed == CODEC_FEED_PUSHED && d->front_ready)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the front matter was pushed already; set the scale before");
    const uint32_t before = d->scale;
    d->scale = scale;
    const taper_status status = d->front_ready ? codec_decoder_apply_scale(d, error) : TAPER_OK;
    if (status != TAPER_OK) d->scale = before;
    return status;
}

taper_status codec_decoder_refuse(const taper_decoder *d, uint64_t bytes, taper_error *error) {
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                             formats_memory_needed(&d->limits, bytes),
                             "rendering this image needs %llu bytes, more than the limit of %llu",
                             (unsigned long long)bytes, (unsigned long long)d->limits.max_memory);
}

taper_status codec_decoder_refuse_front(const taper_decoder *d, uint64_t bytes,
                                        taper_error *error) {
    return codec_front_refuse(&d->limits, bytes, error);
}

/* --- groups ---------------------------------------------------------------------------- */

void codec_decoder_drop_rendered(taper_decoder *d, codec_rendered *w) {
    const uint32_t inputs = d->container->model ? codec_decoder_model(d)->network.inputs : 0;
    formats_account_give(&d->account, w->capacity * inputs * sizeof *w->value);
    formats_account_give(&d->account, w->earlier_bytes);
    codec_strip_renderer_end(&w->earlier);
    free(w->value);
    *w = (codec_rendered){0};
}

void codec_decoder_drop_others(taper_decoder *d, uint32_t rate_class) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        codec_decoder_drop_rendered(d, &d->rendered[t]);
    codec_group_readers_keep(&d->reading.readers, rate_class);
    codec_kept_groups_shrink(&d->supplying.groups);
    codec_awake_keep(&d->pushing.awake, d->pushing.awake.n ? d->pushing.awake.strips[0] : NULL);
}

taper_status codec_decoder_pushed_group(taper_decoder *d, uint32_t g, codec_group_reader **out,
                                        taper_error *error) {
    codec_group_reader **r = &d->pushing.reader[g];
    if (!*r && formats_account_take(&d->account, sizeof **r) == TAPER_OK)
        *r = calloc(1, sizeof **r);
    *out = *r;
    if (!*out) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for group %u", g);
    if ((*out)->first) return TAPER_OK;
    taper_status status =
        codec_group_reader_open(*out, d->own.model, &d->own.front, g, &d->account, error);
    if (status == TAPER_ERR_LIMIT) {
        codec_awake_keep(&d->pushing.awake, NULL);
        status = codec_group_reader_open(*out, d->own.model, &d->own.front, g, &d->account, error);
    }
    TAPER_TRY(status);
    (*out)->strips.pool = d->backend.pool;
    codec_group_reader_limit(*out, d->passes);
    codec_awake_use(&d->pushing.awake, &(*out)->strips, &d->account);
    return TAPER_OK;
}

/* Decode what was pushed of a group, and wake it for reading. */
static taper_status decode_pushed(taper_decoder *d, uint32_t g, codec_group_reader **out,
                                  taper_error *error) {
    if (d->pushing.is_lost) { /* groups were closed */
        if (error) *error = d->failure;
        return d->failure.status;
    }
    TAPER_TRY(codec_decoder_pushed_group(d, g, out, error));
    codec_strips *strips = &(*out)->strips;
    codec_awake_use(&d->pushing.awake, strips, &d->account);
    TAPER_TRY(codec_group_reader_decode(*out, &d->own.front, error));
    const taper_status status = codec_strips_wake(strips, 0);
    if (status == TAPER_OK) return status;
    const uint64_t bytes = codec_strips_missing(strips);
    return formats_fail_fact(
        error, status, TAPER_FACT_MAX_MEMORY, formats_account_step(&d->account, bytes),
        "group %u needs %llu bytes of memory, more than are left", g, (unsigned long long)bytes);
}

/* --- stages of the model ------------------------------------------------------------------ */

uint32_t codec_decoder_next_stage(const taper_decoder *d) {
    const taper_model *m = d->own.own_model;
    if (!m || m->info.stages_known == m->info.stages) return UINT32_MAX;
    return codec_front_next_stage(&d->own.front);
}

/* Replace the model. Groups that are pushed refer to it, and continue with the new one. */
static taper_status change_model(taper_decoder *d, taper_model *model, taper_error *error) {
    taper_model *old = d->own.own_model;
    taper_status status = TAPER_OK;
    d->own.model = d->own.own_model = model;
    codec_decoder_free_helpers(d);
    codec_group_readers_close(&d->reading.readers);
    codec_kept_groups_free(&d->supplying.groups);
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        codec_decoder_drop_rendered(d, &d->rendered[t]);
    codec_decoder_drop_basis(d);
    for (uint32_t g = 0; d->pushing.reader && g < d->own.front.groups; g++) {
        codec_group_reader *r = d->pushing.reader[g];
        if (!r) continue;
        if (status == TAPER_OK) {
            codec_awake_use(&d->pushing.awake, &r->strips, &d->account); /* makes room for it */
            status = codec_group_reader_rebind(r, model, &d->own.front, error);
        } else
            codec_group_reader_close(r);
    }
    d->pushing.is_lost = status != TAPER_OK;
    taper_model_free(old);
    return status;
}

taper_status codec_decoder_take_stage(taper_decoder *d, const uint8_t *bytes, size_t n,
                                      taper_error *error) {
    formats_front *f = &d->own.front;
    taper_model *model;
    TAPER_TRY(formats_account_take(&d->account, n) == TAPER_OK
                  ? TAPER_OK
                  : codec_decoder_refuse_front(d, f->front_size + n, error));
    taper_status status = codec_front_add_stage(f, bytes, n, error);
    const int is_added = status == TAPER_OK;
    if (is_added) status = codec_front_model(f, &d->limits, &model, error);
    if (status == TAPER_OK) return change_model(d, model, error);
    if (is_added) codec_front_drop_stage(f, n);
    formats_account_give(&d->account, n);
    return status;
}

/* The same with supplied bytes, and the passes of the decoder. */
static taper_status decode_supplied(taper_decoder *d, const formats_front *leaf, uint32_t g,
                                    codec_group_reader **out, taper_error *error) {
    const codec_chunk_source from = {leaf, &d->reading.source, &d->supplying.held};
    codec_kept_groups *groups = &d->supplying.groups;
    g -= leaf->first_group;
    const taper_status status =
        codec_kept_groups_open(groups, codec_decoder_model(d), &from, g, out, error);
    if (status != TAPER_ERR_LIMIT) return status;
    codec_decoder_drop_others(d, FORMATS_MAX_RATE_CLASSES);
    return codec_kept_groups_open(groups, codec_decoder_model(d), &from, g, out, error);
}

/* The reader of group g of the container, which `leaf` has, decoded as far as the bytes go, or to
 * this number of passes. */
static taper_status decode_group(taper_decoder *d, const formats_front *leaf, uint32_t g,
                                 uint32_t passes, codec_group_reader **out, taper_error *error) {
    codec_reading *r = &d->reading;
    if (d->feed == CODEC_FEED_PUSHED) return decode_pushed(d, g, out, error);
    if (d->feed == CODEC_FEED_SUPPLIED && passes == d->passes)
        return decode_supplied(d, leaf, g, out, error);
    if (leaf != r->current) codec_group_readers_close(&r->readers); /* of groups of another leaf */
    r->current = leaf;
    uint32_t rate_class = codec_container_rate_class(d->container, g);
    g -= leaf->first_group;
    if (r->pass_limit[rate_class] != passes)
        codec_group_reader_close(&r->readers.of_rate_class[rate_class]);
    r->pass_limit[rate_class] = passes;
    const taper_model *model = codec_decoder_model(d);
    taper_status status =
        codec_group_readers_open(&r->readers, model, leaf, g, &r->source, out, error);
    if (status != TAPER_ERR_LIMIT) return status;
    codec_decoder_drop_others(d, rate_class);
    return codec_group_readers_open(&r->readers, model, leaf, g, &r->source, out, error);
}

taper_status codec_decoder_find(const taper_decoder *d, uint64_t i, taper_image_info *info,
                                taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    if (d->front_ready) return codec_container_image(d->container, i, info, error);
    if (d->feed == CODEC_FEED_PUSHED && d->failure.status != TAPER_OK) { /* no byte mends it */
        if (error) *error = d->failure;
        return d->failure.status;
    }
    const uint64_t more = taper_decoder_bytes_needed(d);
    return formats_fail(error, TAPER_ERR_TRUNCATED, "incomplete header, need %llu more byte%s",
                        (unsigned long long)more, formats_plural(more, "s"));
}

taper_status codec_decoder_load_image(taper_decoder *d, uint64_t i, uint32_t passes,
                                      codec_decoder_image *out, taper_error *error) {
    if (d->helpers) codec_decoder_free_helpers(d); /* they have its memory */
    TAPER_TRY(codec_decoder_find(d, i, &out->info, error));
    i = out->info.same_as;
    const formats_front *f = codec_container_leaf_of_image(d->container, (uint32_t)i);
    TAPER_TRY(decode_group(d, f, out->info.group, passes, &out->group, error));
    uint32_t in_group = formats_front_place(f, (uint32_t)i - f->first_image) -
                        f->group_first[out->info.group - f->first_group];
    out->first = out->group->first[in_group];
    out->n = out->group->first[in_group + 1] - out->first;
    out->pixels = codec_group_reader_pixels(out->group, in_group);
    if (out->pixels && !codec_pixels_has_plane(&out->pixels->of)) out->pixels = NULL;
    return TAPER_OK;
}

taper_completeness codec_decoder_completeness(const taper_decoder *d, const codec_group_reader *r) {
    const formats_front *f = codec_container_leaf_of_group(d->container, r->number);
    return (taper_completeness){.passes = codec_group_reader_passes(r, f),
                                .passes_in_file =
                                    formats_front_layer_end(f, f->layers - 1, r->group),
                                .bytes = r->bytes_used + r->chunk.size,
                                .complete = codec_group_reader_is_done(r, f) ||
                                            (r->bad && d->feed != CODEC_FEED_SUPPLIED) ||
                                            d->passes <= codec_group_reader_passes(r, f),
                                .stages = codec_decoder_model(d)->info.stages_known};
}

taper_status codec_decoder_damage(const codec_group_reader *r, taper_error *error) {
    if (!r->bad) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "layer %u of group %u is damaged (checksum); fetch the file again",
                        r->layer, r->number);
}

uint64_t taper_decoder_bytes_needed(const taper_decoder *d) {
    if (!d || d->front_ready) return 0;
    uint64_t have = d->pushing.head.size + codec_byte_store_run(&d->supplying.held, 0, NULL);
    if (d->feed == CODEC_FEED_SUPPLIED && d->failure.status != TAPER_OK)
        have = 0; /* all must be supplied again */
    return d->need <= have ? 0 : d->need - have;
}
