/* pushed.c -- taper_decoder_push: bytes in file order; see taper.h. Chunks are decoded as they
 * arrive. */
#include "codec/decoder/decoder.h"
#include <stdlib.h>

/* Take bytes for the front matter; *used: how many. */
static taper_status push_front(taper_decoder *d, const uint8_t *bytes, size_t n, size_t *used,
                               taper_error *error) {
    *used = 0;
    while (d->pushing.head.size < d->need && *used < n) {
        uint64_t missing = d->need - d->pushing.head.size;
        size_t take = n - *used < missing ? n - *used : (size_t)missing;
        taper_status status = d->need > d->limits.max_memory
                                  ? TAPER_ERR_LIMIT
                                  : formats_write_bytes(&d->pushing.head, bytes + *used, take);
        if (status == TAPER_ERR_LIMIT) return codec_decoder_refuse_front(d, d->need, error);
        if (status != TAPER_OK)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the front matter");
        *used += take;
        TAPER_TRY(formats_front_need(d->pushing.head.data, d->pushing.head.size, &d->need, error));
    }
    if (d->pushing.head.size < d->need) return TAPER_OK;
    const taper_limits limits = formats_limits_minus(&d->limits, d->account.used);
    TAPER_TRY(formats_front_read(d->pushing.head.data, d->pushing.head.size, &limits, &d->own.front,
                                 error));
    formats_buffer_free(&d->pushing.head);
    d->account.used += d->own.front.account.used;
    codec_container_count(&d->own);
    TAPER_TRY(taper_container_bind(&d->own, d->given_model, error));
    TAPER_TRY(codec_decoder_apply_scale(d, error));
    const uint64_t readers = d->own.front.groups * sizeof *d->pushing.reader;
    if (formats_account_take(&d->account, readers) == TAPER_OK)
        d->pushing.reader = calloc(d->own.front.groups, sizeof *d->pushing.reader);
    if (!d->pushing.reader)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u groups", d->own.front.groups);
    d->front_ready = 1;
    return TAPER_OK;
}

/* A chunk is complete. If a checksum block ends with it, its chunks are accepted or dropped. */
static taper_status chunk_is_complete(taper_decoder *d, codec_group_reader *r, uint32_t layer,
                                      uint32_t g) {
    const formats_front *f = &d->own.front;
    uint32_t per = f->chunks_per_checksum, blocks = (f->groups - 1) / per + 1;
    taper_status status = TAPER_OK;
    r->here = !r->bad && r->layer == layer;
    if ((g + 1) % per && g + 1 < f->groups) return TAPER_OK;
    int holds = d->pushing.crc == f->checksum[(uint64_t)layer * blocks + g / per];
    d->pushing.crc = 0;
    for (uint32_t i = g / per * per; i <= g && status == TAPER_OK; i++) {
        codec_group_reader *of = d->pushing.reader[i];
        if (of->layer == layer) codec_awake_use(&d->pushing.awake, &of->strips, &d->account);
        status = codec_group_reader_end_chunk(of, f, layer, holds);
    }
    return status;
}

static taper_status fail_chunk(const taper_decoder *d, const codec_group_reader *r,
                               taper_status status, uint64_t bytes, taper_error *error) {
    bytes = 2 * bytes + (r ? codec_strips_missing(&r->strips) : 0);
    return status == TAPER_ERR_LIMIT
               ? formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                   formats_account_step(&d->account, bytes),
                                   "a chunk takes more memory than is left of %llu bytes",
                                   (unsigned long long)d->limits.max_memory)
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk");
}

static const uint8_t nothing[1];

/* Take bytes of a stage of the model. A block of checksums is that of the stage alone, which has a
 * checksum of its own: a damaged one ends the model, and is passed over as those behind it are. */
static taper_status push_stage(taper_decoder *d, uint32_t layer, const uint8_t *bytes, size_t n,
                               int is_complete, taper_error *error) {
    formats_buffer *stage = &d->pushing.stage;
    taper_status status = TAPER_OK;
    if (codec_decoder_next_stage(d) != layer) return TAPER_OK; /* another model is used */
    if (formats_write_bytes(stage, bytes, n) != TAPER_OK)
        return fail_chunk(d, NULL, stage->status, n, error);
    if (!is_complete) return TAPER_OK;
    status = codec_decoder_take_stage(d, stage->data, stage->size, error);
    formats_buffer_clear(stage);
    return status == TAPER_ERR_CORRUPT ? TAPER_OK : status;
}

static taper_status push_data(taper_decoder *d, const uint8_t *bytes, size_t n,
                              taper_error *error) {
    const formats_front *f = &d->own.front;
    uint64_t chunks = (uint64_t)f->layers * f->groups;
    if (!bytes) bytes = nothing; /* an empty buffer has data NULL */
    while (d->pushing.chunk < chunks) {
        uint32_t g = (uint32_t)(d->pushing.chunk % f->groups),
                 layer = (uint32_t)(d->pushing.chunk / f->groups);
        uint64_t length = f->chunk_at[d->pushing.chunk + 1] - f->chunk_at[d->pushing.chunk],
                 left = length - d->pushing.in_chunk;
        if (left && !n) return TAPER_OK;
        size_t take = n < left ? n : (size_t)left;
        if (formats_front_layer_kind(f, layer) == FORMATS_LAYER_MODEL) {
            if (g == 0) TAPER_TRY(push_stage(d, layer, bytes, take, take == left, error));
            bytes += take, n -= take, d->pushing.in_chunk += take;
            if (take < left) return TAPER_OK;
            d->pushing.chunk++, d->pushing.in_chunk = 0;
            continue;
        }
        codec_group_reader *r;
        TAPER_TRY(codec_decoder_pushed_group(d, g, &r, error));
        taper_status status = r->bad ? TAPER_OK : codec_group_reader_feed(r, bytes, take);
        if (status != TAPER_OK) return fail_chunk(d, r, status, length, error);
        d->pushing.crc = formats_crc32c(d->pushing.crc, bytes, take);
        bytes += take, n -= take, d->pushing.in_chunk += take;
        if (d->pushing.in_chunk < length) return TAPER_OK;
        status = chunk_is_complete(d, r, layer, g);
        if (status != TAPER_OK) return fail_chunk(d, r, status, length, error);
        d->pushing.chunk++;
        d->pushing.in_chunk = 0;
    }
    if (n)
        return formats_fail(error, TAPER_ERR_CORRUPT, "%zu byte%s follow%s the container's end", n,
                            formats_plural(n, "s"), formats_singular(n));
    return TAPER_OK;
}

/* Decode as many bytes of the image data as are rendered now; keep the others in `waiting`. */
static taper_status push_in_time(taper_decoder *d, const uint8_t *bytes, size_t n,
                                 taper_error *error) {
    uint64_t before = d->pushing.arrived - d->pushing.waiting.size;
    if (formats_add_u64(d->pushing.arrived, n, &d->pushing.arrived) != TAPER_OK)
        return TAPER_ERR_ARG;
    uint64_t due = formats_front_drawn(&d->own.front, d->pushing.arrived);
    if (due >= before + d->pushing.waiting.size) { /* all bytes in `waiting`, or none */
        size_t now = (size_t)(due - before - d->pushing.waiting.size);
        TAPER_TRY(push_data(d, d->pushing.waiting.data, d->pushing.waiting.size, error));
        TAPER_TRY(push_data(d, bytes, now, error));
        formats_buffer_clear(&d->pushing.waiting);
        bytes += now, n -= now;
    }
    return formats_write_bytes(&d->pushing.waiting, bytes, n) == TAPER_OK
               ? TAPER_OK
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk");
}

taper_status taper_decoder_push(taper_decoder *d, const void *bytes, size_t n, taper_error *error) {
    taper_error own = {0};
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need_array(bytes, n, 1, "the bytes", error));
    if (d->feed != CODEC_FEED_UNKNOWN && d->feed != CODEC_FEED_PUSHED)
        return formats_fail(error, TAPER_ERR_ARG, "this decoder %s; it cannot be pushed",
                            d->feed == CODEC_FEED_SUPPLIED ? "is supplied with ranges"
                                                           : "reads a source");
    d->feed = CODEC_FEED_PUSHED;
    if (d->failure.status == TAPER_OK) {
        const uint8_t *from = bytes ? bytes : nothing;
        size_t used = 0;
        taper_status status = TAPER_OK;
        if (!d->front_ready) status = push_front(d, from, n, &used, &own);
        if (status == TAPER_OK && d->front_ready)
            status = push_in_time(d, from + used, n - used, &own);
        if (status != TAPER_OK) d->failure = own, d->failure.status = status;
    }
    if (d->failure.status != TAPER_OK && error) *error = d->failure;
    return d->failure.status;
}
