/* decoder.c -- taper_decoder_*: see taper.h and decoder.h. A group_reader decodes each group. */
#include "codec/decoder/decoder.h"
#include <stdlib.h>
#include <string.h>

/* --- opening --------------------------------------------------------------------------- */

taper_status codec_decoder_bind(taper_decoder *d, taper_error *error) {
    if (!d->model) {
        TAPER_TRY(codec_front_model(&d->front, &d->limits, &d->own_model, error));
        d->model = d->own_model;
    }
    TAPER_TRY(codec_front_match(&d->front, d->model, error));
    TAPER_TRY(codec_front_check_models(&d->front, d->own_model != NULL, &d->limits, error));
    if (!d->source.read) {
        if (formats_account_take(&d->account, d->front.groups * sizeof *d->reader) == TAPER_OK)
            d->reader = calloc(d->front.groups, sizeof *d->reader);
        if (!d->reader)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u groups", d->front.groups);
    }
    d->front_ready = 1;
    return TAPER_OK;
}

static taper_decoder *make(const taper_model *model, const taper_limits *limits) {
    taper_decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->model = model;
    d->limits = formats_limits_or_default(limits);
    d->head = formats_buffer_make(FORMATS_MOST_BYTES);
    d->account = formats_account_within(&d->limits);
    d->waiting = formats_buffer_make(FORMATS_MOST_BYTES);
    d->head.account = d->waiting.account = d->readers.account = d->held.account = &d->account;
    d->need = FORMATS_HEADER_SIZE;
    d->readers.pass_limit = d->pass_limit;
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) d->pass_limit[t] = UINT32_MAX;
    codec_backend_cpu(&d->backend);
    return d;
}

taper_status taper_decoder_new(taper_decoder **out, const taper_model *model,
                               const taper_limits *limits, taper_error *error) {
    TAPER_TRY(formats_need(out, "the decoder's place", error));
    *out = make(model, limits);
    return *out ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a decoder");
}

taper_status taper_decoder_open(taper_decoder **out, const taper_source *source,
                                const taper_model *model, const taper_limits *limits,
                                taper_error *error) {
    TAPER_TRY(formats_need(out, "the decoder's place", error));
    *out = NULL;
    TAPER_TRY(formats_need_source(source, error));
    taper_decoder *d = make(model, limits);
    if (!d) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a decoder");
    d->source = *source;
    taper_status status = codec_front_load(source, &d->limits, &d->front, error);
    d->account.used = d->front.account.used;
    if (status == TAPER_OK) status = codec_decoder_bind(d, error);
    if (status == TAPER_OK) d->source = codec_front_drawn(&d->front, source);
    if (status != TAPER_OK) {
        taper_decoder_free(d);
        return status;
    }
    *out = d;
    return TAPER_OK;
}

void taper_decoder_free(taper_decoder *d) {
    if (!d) return;
    for (uint32_t g = 0; d->reader && g < d->front.groups; g++) {
        codec_group_reader_close(d->reader[g]);
        free(d->reader[g]);
    }
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) free(d->rendered[t].value);
    for (uint32_t k = 0; d->leaf && k < d->root.leaves; k++) {
        if (d->leaf[k]) formats_front_free(d->leaf[k]);
        free(d->leaf[k]);
    }
    free(d->leaf);
    formats_root_free(&d->root);
    codec_group_readers_close(&d->readers);
    codec_backend_close(&d->backend);
    free(d->reader);
    formats_front_free(&d->front);
    formats_buffer_free(&d->head), formats_buffer_free(&d->waiting);
    codec_byte_store_free(&d->held);
    codec_small_basis_free(&d->small);
    taper_model_free(d->own_model);
    free(d);
}

taper_status taper_decoder_set_threads(taper_decoder *d, unsigned threads) {
    if (!d) return TAPER_ERR_ARG;
    taper_status status = codec_backend_set_threads(&d->backend, threads);
    codec_pool *pool = d->readers.pool = d->backend.pool;
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        d->readers.of_rate_class[t].strips.pool = pool;
    for (uint32_t g = 0; d->reader && g < d->front.groups; g++)
        if (d->reader[g]) d->reader[g]->strips.pool = pool;
    return status;
}

taper_status codec_decoder_refuse_front(const taper_decoder *d, uint64_t bytes,
                                        taper_error *error) {
    return codec_front_refuse(&d->limits, bytes, error);
}

/* --- leaves ---------------------------------------------------------------------------- */

const formats_front *codec_decoder_leaf_of_image(const taper_decoder *d, uint32_t i) {
    if (!d->root.leaves) return &d->front;
    return d->leaf[formats_root_leaf_of_image(&d->root, i)];
}

const formats_front *codec_decoder_leaf_of_group(const taper_decoder *d, uint32_t g) {
    if (!d->root.leaves) return &d->front;
    return d->leaf[formats_root_leaf_of_group(&d->root, g)];
}

uint32_t codec_decoder_rate_class(const taper_decoder *d, uint32_t g) {
    const formats_front *leaf = codec_decoder_leaf_of_group(d, g);
    return leaf ? formats_front_rate_class(leaf, g - leaf->first_group) : 0;
}

/* --- groups ---------------------------------------------------------------------------- */

void codec_decoder_drop_rendered(taper_decoder *d, codec_rendered *w) {
    formats_account_give(&d->account, w->capacity * d->model->network.inputs * sizeof *w->value);
    free(w->value);
    *w = (codec_rendered){0};
}

void codec_decoder_drop_others(taper_decoder *d, uint32_t rate_class) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        codec_decoder_drop_rendered(d, &d->rendered[t]);
    codec_group_readers_keep(&d->readers, rate_class);
}

taper_status codec_decoder_pushed_group(taper_decoder *d, uint32_t g, codec_group_reader **out,
                                        taper_error *error) {
    if (!d->reader[g] && formats_account_take(&d->account, sizeof **d->reader) == TAPER_OK)
        d->reader[g] = calloc(1, sizeof **d->reader);
    *out = d->reader[g];
    if (!*out) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for group %u", g);
    if ((*out)->first) return TAPER_OK;
    TAPER_TRY(codec_group_reader_open(*out, d->model, &d->front, g, &d->account, error));
    (*out)->strips.pool = d->backend.pool;
    return TAPER_OK;
}

/* The reader of group g of the container, which `leaf` has, decoded as far as the bytes go, or to
 * this number of passes. */
static taper_status decode_group(taper_decoder *d, const formats_front *leaf, uint32_t g,
                                 uint32_t passes, codec_group_reader **out, taper_error *error) {
    if (!d->source.read) {
        TAPER_TRY(codec_decoder_pushed_group(d, g, out, error));
        return codec_group_reader_decode(*out, &d->front, error);
    }
    if (leaf != d->current) codec_group_readers_close(&d->readers); /* of groups of another leaf */
    d->current = leaf;
    uint32_t rate_class = codec_decoder_rate_class(d, g);
    g -= leaf->first_group;
    if (d->pass_limit[rate_class] != passes)
        codec_group_reader_close(&d->readers.of_rate_class[rate_class]);
    d->pass_limit[rate_class] = passes;
    taper_status status =
        codec_group_readers_open(&d->readers, d->model, leaf, g, &d->source, out, error);
    if (status != TAPER_ERR_LIMIT) return status;
    codec_decoder_drop_others(d, rate_class);
    return codec_group_readers_open(&d->readers, d->model, leaf, g, &d->source, out, error);
}

taper_status codec_decoder_find(const taper_decoder *d, uint64_t i, taper_image_info *info,
                                taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    taper_status status = taper_decoder_image_info(d, i, info);
    if (status == TAPER_ERR_TRUNCATED && d->front_ready)
        return formats_fail(error, status,
                            "the leaf of the front matter that has image %llu was not supplied, or "
                            "is damaged; taper_decoder_plan tells its bytes",
                            (unsigned long long)i);
    if (status == TAPER_ERR_TRUNCATED)
        return formats_fail(error, status, "incomplete header, need %llu more byte%s",
                            (unsigned long long)taper_decoder_bytes_needed(d),
                            formats_plural(taper_decoder_bytes_needed(d), "s"));
    return status == TAPER_OK ? status
                              : formats_fail(error, TAPER_ERR_ARG, "there is no image %llu",
                                             (unsigned long long)i);
}

taper_status codec_decoder_load_image(taper_decoder *d, uint64_t i, uint32_t passes,
                                      codec_decoder_image *out, taper_error *error) {
    TAPER_TRY(codec_decoder_find(d, i, &out->info, error));
    const formats_front *f = codec_decoder_leaf_of_image(d, (uint32_t)i);
    TAPER_TRY(decode_group(d, f, out->info.group, passes, &out->group, error));
    uint32_t in_group = formats_front_place(f, (uint32_t)i - f->first_image) -
                        f->group_first[out->info.group - f->first_group];
    out->first = out->group->first[in_group];
    out->n = out->group->first[in_group + 1] - out->first;
    return TAPER_OK;
}

taper_completeness codec_decoder_completeness(const taper_decoder *d, const codec_group_reader *r) {
    const formats_front *f = codec_decoder_leaf_of_group(d, r->number);
    return (taper_completeness){codec_group_reader_passes(r),
                                formats_front_layer_end(f, f->layers - 1, r->group),
                                r->bytes_used + r->chunk.size, codec_group_reader_is_done(r, f)};
}

taper_status codec_decoder_damage(const codec_group_reader *r, taper_error *error) {
    if (!r->bad) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "layer %u of group %u is damaged (checksum); fetch the file again",
                        r->layer, r->number);
}

/* --- properties --------------------------------------------------------------------- */

uint64_t taper_decoder_bytes_needed(const taper_decoder *d) {
    if (!d) return 0;
    uint64_t have = d->head.size + codec_byte_store_run(&d->held, 0, NULL);
    if (d->readers.held && d->failure.status != TAPER_OK) have = 0; /* all must be supplied again */
    return d->front_ready || d->need <= have ? 0 : d->need - have;
}

taper_status taper_decoder_get_info(const taper_decoder *d, taper_container_info *out) {
    if (!d || !out) return TAPER_ERR_ARG;
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    const formats_front *f = &d->front;
    *out = (taper_container_info){.model_id = f->model_id,
                                  .has_model = f->model != NULL,
                                  .layout = (taper_layout)f->layout,
                                  .images = f->images,
                                  .groups = f->groups,
                                  .layers = f->layers,
                                  .passes = formats_front_passes(f, f->layers - 1),
                                  .front_bytes = f->front_size,
                                  .file_bytes = f->front_size + formats_front_data(f),
                                  .pixels = d->root.pixels,
                                  .has_names = f->names || d->root.find != FORMATS_FIND_NONE,
                                  .has_labels = f->label || d->root.has_labels,
                                  .classes = f->classes,
                                  .search_bits = f->search_bits,
                                  .search_model_id = f->search_model_id,
                                  .has_search_model = f->search_model != NULL};
    for (uint32_t i = 0; f->geometry && i < f->images; i++)
        out->pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    return TAPER_OK;
}

taper_status taper_decoder_image_info(const taper_decoder *d, uint64_t i, taper_image_info *out) {
    if (!d || !out) return TAPER_ERR_ARG;
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    if (i >= d->front.images) return TAPER_ERR_ARG;
    const formats_front *f = codec_decoder_leaf_of_image(d, (uint32_t)i);
    if (!f) return TAPER_ERR_TRUNCATED;
    const uint32_t in_leaf = (uint32_t)i - f->first_image;
    formats_geometry g = f->geometry[in_leaf];
    codec_grid grid = codec_windows_grid(d->model->window, g.width, g.height);
    *out = (taper_image_info){g.width,
                              g.height,
                              g.channels,
                              g.depth,
                              (uint64_t)g.width * g.height * g.channels * (g.depth / 8u),
                              f->first_group + formats_front_group(f, in_leaf),
                              f->label ? f->label[in_leaf] : -1,
                              formats_front_name(f, in_leaf),
                              grid.columns,
                              grid.rows};
    return TAPER_OK;
}

const char *taper_decoder_class_name(const taper_decoder *d, uint32_t k) {
    return d && d->front_ready ? formats_front_class_name(&d->front, k) : NULL;
}

taper_status taper_decoder_search_code(const taper_decoder *d, uint64_t i, uint64_t *code,
                                       taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need(code, "the code's place", error));
    const size_t bytes = formats_front_search_bytes(&d->front);
    if (!d->front_ready)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the front matter is incomplete");
    if (!bytes && d->root.leaves)
        return formats_fail(error, TAPER_ERR_ARG,
                            "codes for search of %u images are not read by ranges; open the "
                            "container as a source",
                            d->front.images);
    if (i >= d->front.images || !bytes)
        return formats_fail(error, TAPER_ERR_ARG,
                            "image %llu has no code for search here: there are %u images, %s",
                            (unsigned long long)i, d->front.images,
                            bytes ? "which have one each" : "none of which has one");
    const uint8_t *from = d->front.search_codes + i * bytes;
    for (size_t w = 0; w < (bytes + 7) / 8; w++) code[w] = 0;
    for (size_t b = 0; b < bytes; b++) code[b / 8] |= (uint64_t)from[b] << (56 - 8 * (b % 8));
    if (d->front.search_bits % 64)
        code[(bytes - 1) / 8] &= ~(uint64_t)0 << (64 - d->front.search_bits % 64);
    return TAPER_OK;
}

taper_status taper_decoder_search_model(const taper_decoder *d, taper_model **out,
                                        taper_error *error) {
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(d, "the decoder", error));
    if (!d->front_ready)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the front matter is incomplete");
    if (!d->front.search_model)
        return formats_fail(error, TAPER_ERR_ARG, "the container carries no model for search");
    return codec_front_search_model(&d->front, &d->limits, out, error);
}

taper_status taper_decoder_group_range(const taper_decoder *d, uint32_t g, uint64_t *first,
                                       uint64_t *count) {
    if (!d || !first || !count) return TAPER_ERR_ARG;
    if (!d->front_ready) return TAPER_ERR_TRUNCATED;
    if (g >= d->front.groups) return TAPER_ERR_ARG;
    const formats_front *f = codec_decoder_leaf_of_group(d, g);
    if (!f) return TAPER_ERR_TRUNCATED;
    const uint32_t *at = f->group_first + (g - f->first_group);
    *first = f->first_image + at[0];
    *count = at[1] - at[0];
    return TAPER_OK;
}

uint64_t taper_decoder_image_at(const taper_decoder *d, uint64_t place) {
    if (!d || !d->front_ready || place >= d->front.images) return place;
    /* the places of a leaf are those of its images */
    const formats_front *f = codec_decoder_leaf_of_image(d, (uint32_t)place);
    return f ? f->first_image + formats_front_image(f, (uint32_t)place - f->first_image) : place;
}
