/* supplied.c -- taper_decoder_supply: bytes in any order; see taper.h. The supplied bytes are read
 * as a source that is cut and has gaps. Leaves of a paged container are read as soon as they are
 * there. */
#include "codec/decoder/decoder.h"
#include <stdlib.h>
#include <string.h>

taper_status codec_supplied_begin(taper_decoder *d, taper_error *error) {
    if (d->feed == CODEC_FEED_SUPPLIED) return TAPER_OK;
    if (d->feed != CODEC_FEED_UNKNOWN)
        return formats_fail(error, TAPER_ERR_ARG,
                            "this decoder %s; it cannot be supplied with ranges",
                            d->feed == CODEC_FEED_SOURCE ? "reads a source" : "is pushed bytes");
    d->feed = CODEC_FEED_SUPPLIED;
    d->reading.source = (taper_source){&d->supplying.held, 0, codec_byte_store_read};
    d->reading.readers.held = &d->supplying.held;
    d->supplying.cut = UINT64_MAX;
    return TAPER_OK;
}

/* --- the front matter ------------------------------------------------------------------ */

static uint64_t file_end(const taper_decoder *d) {
    return d->own.front.front_size + formats_front_data(&d->own.front);
}

/* The file up to the cut, as far as it is rendered. */
uint64_t codec_supplied_end(const taper_decoder *d) {
    taper_source cut = d->reading.source;
    cut.size = d->supplying.cut < file_end(d) ? d->supplying.cut : file_end(d);
    return codec_front_drawn(&d->own.front, &cut).size;
}

/* Find the model, and make room for leaves. */
static taper_status bind(taper_container *c, const taper_model *given, taper_error *error) {
    const uint32_t n = c->root.leaves;
    if (n) TAPER_TRY(formats_front_take(&c->front, n, sizeof *c->leaf, &c->leaf, error));
    codec_container_count(c);
    return taper_container_bind(c, given, error);
}

static taper_status read_front(taper_decoder *d, const uint8_t *bytes, uint64_t n,
                               taper_error *error) {
    taper_container *c = &d->own;
    const taper_limits limits = formats_limits_minus(&c->limits, d->account.used);
    TAPER_TRY(formats_head_read(bytes, (size_t)n, &limits, &c->front, &c->root, error));
    taper_status status = bind(c, d->given_model, error);
    if (status == TAPER_OK) status = codec_decoder_apply_scale(d, error);
    if (status == TAPER_OK)
        d->account.used += c->front.account.used, d->front_ready = 1;
    else { /* another model may come */
        codec_decoder_drop_basis(d);
        codec_container_empty(c);
    }
    return status;
}

/* Keep a leaf that was read, if the model has what its images need. */
static taper_status keep_leaf(taper_decoder *d, uint32_t k, const formats_front *leaf,
                              taper_error *error) {
    taper_container *c = &d->own;
    const uint64_t bytes = leaf->account.used + sizeof *leaf;
    TAPER_TRY(codec_front_match_images(leaf, c->model, error));
    if (formats_account_take(&d->account, bytes) != TAPER_OK)
        return formats_front_refuse(&c->front, bytes, error);
    c->leaf[k] = malloc(sizeof *leaf);
    if (!c->leaf[k]) {
        formats_account_give(&d->account, bytes);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for leaf %u", k);
    }
    *c->leaf[k] = *leaf;
    c->leaves_used += bytes;
    return TAPER_OK;
}

taper_status codec_supplied_leaf(taper_decoder *d, uint32_t k, int *missing, taper_error *error) {
    const uint64_t at = d->own.root.leaves_at + d->own.root.leaf[k].at,
                   size = d->own.root.leaf[k + 1].at - d->own.root.leaf[k].at;
    const uint8_t *bytes = (const uint8_t *)"";
    formats_front leaf;
    *missing = 0;
    if (d->own.leaf[k]) return TAPER_OK;
    *missing = codec_byte_store_run(&d->supplying.held, at, &bytes) < size;
    if (*missing) return TAPER_OK;
    const taper_limits limits = formats_limits_minus(&d->limits, d->account.used);
    TAPER_TRY(formats_leaf_read(&d->own.root, &d->own.front, k, bytes, &limits, &leaf, error));
    const taper_status status = keep_leaf(d, k, &leaf, error);
    if (status != TAPER_OK) formats_front_free(&leaf);
    return status;
}

/* The leaf that has byte `at` of the section. */
static uint32_t leaf_at(const formats_root *r, uint64_t at) {
    uint32_t low = 0, high = r->leaves;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->leaf[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Read the leaves that bytes offset .. end - 1 may have completed. An error is told when the leaf
 * is asked for: other leaves do not need this one. */
static void try_leaves(taper_decoder *d, uint64_t offset, uint64_t end) {
    const formats_root *r = &d->own.root;
    if (!r->leaves || end <= r->leaves_at) return;
    const uint64_t first = offset > r->leaves_at ? offset - r->leaves_at : 0;
    int missing;
    if (first >= r->leaf[r->leaves].at) return;
    for (uint32_t k = leaf_at(r, first); k < r->leaves && r->leaf[k].at < end - r->leaves_at; k++)
        (void)codec_supplied_leaf(d, k, &missing, NULL);
}

void codec_supplied_stages(taper_decoder *d) {
    uint32_t layer;
    while ((layer = codec_decoder_next_stage(d)) < UINT32_MAX) {
        const codec_file_range at = codec_layer_range(&d->own.front, &d->own.root, layer);
        const uint8_t *bytes = NULL;
        if (codec_byte_store_run(&d->supplying.held, at.at, &bytes) < at.size) return;
        d->supplying.stage = codec_decoder_take_stage(d, bytes, (size_t)at.size, NULL);
        if (d->supplying.stage != TAPER_OK) return;
    }
}

static taper_status refuse_tail(uint64_t n, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT, "%llu byte%s follow%s the container's end",
                        (unsigned long long)n, formats_plural(n, "s"), formats_singular(n));
}

/* Parse the front matter as far as it was supplied. Errors are not final: bytes may be supplied
 * again. */
static taper_status try_front(taper_decoder *d, taper_error *error) {
    const uint8_t *bytes = (const uint8_t *)"";
    uint64_t n = codec_byte_store_run(&d->supplying.held, 0, &bytes), need;
    taper_status status = formats_head_need(bytes, (size_t)n, &need, error);
    d->need = status == TAPER_OK || need < n ? need : n; /* the error is in supplied bytes */
    if (status != TAPER_OK) return status;
    if (need > d->limits.max_memory) return codec_decoder_refuse_front(d, need, error);
    if (n < need) return TAPER_OK;
    TAPER_TRY(read_front(d, bytes, n, error));
    uint64_t held = codec_byte_store_end(&d->supplying.held), end = file_end(d);
    d->supplying.head_bytes = d->own.root.leaves ? d->own.root.leaves_at : d->own.front.front_size;
    codec_byte_store_keep(&d->supplying.held, d->supplying.head_bytes, end);
    d->reading.source.size = codec_supplied_end(d);
    try_leaves(d, d->supplying.head_bytes, end);
    codec_supplied_stages(d);
    return held > end ? refuse_tail(held - end, error) : TAPER_OK;
}

/* --- supplying ------------------------------------------------------------------------- */

static taper_status keep_bytes(taper_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n,
                               int *changed, taper_error *error) {
    taper_status status = codec_byte_store_put(&d->supplying.held, offset, bytes, n, changed);
    if (status == TAPER_OK) return status;
    return status == TAPER_ERR_LIMIT
               ? formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                   formats_account_step(&d->account, 2 * n),
                                   "%zu more supplied bytes take more than the limit of %llu "
                                   "bytes of memory",
                                   n, (unsigned long long)d->limits.max_memory)
               : formats_fail(error, status, "no memory for %zu bytes", n);
}

/* Groups that were decoded without these bytes go on with them when they are asked for. Drop those
 * that were decoded with older ones. */
static void invalidate(taper_decoder *d, uint64_t offset, uint64_t end, int replaced) {
    codec_kept_groups_supplied(&d->supplying.groups, offset, end, replaced);
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) {
        codec_group_reader *r = &d->reading.readers.of_rate_class[t];
        codec_rendered *w = &d->rendered[t];
        if (r->images && codec_group_concerns(d->reading.current, r->group, offset, end))
            codec_group_reader_close(r);
        const formats_front *f = w->n ? codec_container_leaf_of_group(&d->own, w->group) : NULL;
        if (f && codec_group_concerns(f, w->group - f->first_group, offset, end)) w->n = 0;
    }
    d->reading.readers.block.size = 0;
}

static taper_status supply_front(taper_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n,
                                 taper_error *error) {
    taper_error why = {0};
    int changed;
    TAPER_TRY(keep_bytes(d, offset, bytes, n, &changed, error));
    if (changed && offset <= d->need) {
        taper_status status = try_front(d, &why);
        why.status = status;
        if (!d->front_ready)
            d->failure = why;
        else
            d->failure = (taper_error){0};
    } else
        why = d->failure;
    if (why.status != TAPER_OK && error) *error = why;
    return why.status;
}

static taper_status supply_data(taper_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n,
                                taper_error *error) {
    uint64_t end = offset + n, from = d->supplying.head_bytes;
    int changed;
    if (end > file_end(d)) return refuse_tail(end - file_end(d), error);
    if (end <= from) return TAPER_OK; /* this part of the front matter is known */
    if (offset < from) bytes += from - offset, n -= (size_t)(from - offset), offset = from;
    TAPER_TRY(keep_bytes(d, offset, bytes, n, &changed, error));
    if (!changed) return TAPER_OK;
    invalidate(d, offset, end, changed > 1);
    try_leaves(d, offset, end);
    codec_supplied_stages(d);
    return TAPER_OK;
}

taper_status taper_decoder_supply(taper_decoder *d, uint64_t offset, const void *bytes, size_t size,
                                  taper_error *error) {
    uint64_t end;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need_array(bytes, size, 1, "the bytes", error));
    TAPER_TRY(codec_supplied_begin(d, error));
    if (formats_add_u64(offset, size, &end) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_ARG, "%zu bytes at offset %llu are not a legal range",
                            size, (unsigned long long)offset);
    return d->front_ready ? supply_data(d, offset, bytes, size, error)
                          : supply_front(d, offset, bytes, size, error);
}
