/* supplied.c -- taper_decoder_plan and taper_decoder_supply: bytes in any order; see taper.h. The
 * supplied bytes are read as a source that is cut and has gaps. */
#include "codec/decoder/decoder.h"
#include <string.h>

/* The first call makes this a decoder for supplied bytes. */
static taper_status begin(taper_decoder *d, taper_error *error) {
    if (d->source.user == &d->held) return TAPER_OK;
    if (d->source.read || d->front_ready || d->head.size)
        return formats_fail(error, TAPER_ERR_ARG,
                            "this decoder %s; it cannot be supplied with ranges",
                            d->source.read ? "reads a source" : "is pushed bytes");
    d->source = (taper_source){&d->held, 0, codec_byte_store_read};
    d->readers.held = &d->held;
    d->cut = UINT64_MAX;
    return TAPER_OK;
}

/* --- the front matter ------------------------------------------------------------------ */

static uint64_t file_end(const taper_decoder *d) {
    const formats_front *f = &d->front;
    return f->front_size + f->chunk_at[(uint64_t)f->layers * f->groups];
}

/* The size of the source: the file up to the cut, as far as it is rendered. */
static uint64_t source_end(const taper_decoder *d) {
    taper_source cut = d->source;
    cut.size = d->cut < file_end(d) ? d->cut : file_end(d);
    return codec_front_drawn(&d->front, &cut).size;
}

static taper_status read_front(taper_decoder *d, const uint8_t *bytes, uint64_t n,
                               taper_error *error) {
    const taper_limits limits = formats_limits_minus(&d->limits, d->account.used);
    const taper_model *given = d->model;
    TAPER_TRY(formats_front_read(bytes, (size_t)n, &limits, &d->front, error));
    taper_status status = codec_decoder_bind(d, error);
    if (status == TAPER_OK) {
        d->account.used += d->front.account.used;
        return TAPER_OK;
    }
    formats_front_free(&d->front);
    taper_model_free(d->own_model);
    d->own_model = NULL;
    d->model = given;
    return status;
}

static taper_status refuse_tail(uint64_t n, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT, "%llu byte%s follow%s the container's end",
                        (unsigned long long)n, formats_plural(n, "s"), formats_singular(n));
}

/* Parse the front matter as far as it was supplied. Errors are not final: bytes may be supplied
 * again. */
static taper_status try_front(taper_decoder *d, taper_error *error) {
    const uint8_t *bytes = (const uint8_t *)"";
    uint64_t n = codec_byte_store_run(&d->held, 0, &bytes), need;
    taper_status status = formats_front_need(bytes, (size_t)n, &need, error);
    d->need = status == TAPER_OK || need < n ? need : n; /* the error is in supplied bytes */
    if (status != TAPER_OK) return status;
    if (need > d->limits.max_memory) return codec_decoder_refuse_front(d, need, error);
    if (n < need) return TAPER_OK;
    TAPER_TRY(read_front(d, bytes, n, error));
    uint64_t held = codec_byte_store_end(&d->held), end = file_end(d);
    codec_byte_store_keep(&d->held, d->front.front_size, end);
    d->source.size = source_end(d);
    return held > end ? refuse_tail(held - end, error) : TAPER_OK;
}

/* --- supplying ------------------------------------------------------------------------- */

static taper_status keep_bytes(taper_decoder *d, uint64_t offset, const uint8_t *bytes, size_t n,
                               int *changed, taper_error *error) {
    taper_status status = codec_byte_store_put(&d->held, offset, bytes, n, changed);
    if (status == TAPER_OK) return status;
    return status == TAPER_ERR_LIMIT
               ? formats_fail(error, status,
                              "no memory for %zu more supplied bytes; give --max-memory "
                              "%lluM if you trust the file",
                              n, (unsigned long long)formats_account_step(&d->account, 2 * n))
               : formats_fail(error, status, "no memory for %zu bytes", n);
}

/* Nonzero if bytes offset .. end - 1 belong to the group, or to a chunk that shares a checksum with
 * it. */
static int concerns(const formats_front *f, uint32_t g, uint64_t offset, uint64_t end) {
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        codec_file_range block = codec_block_range(f, layer, g);
        if (block.at < end && offset < block.at + block.size) return 1;
    }
    return 0;
}

/* Drop groups that were decoded without these bytes, or with older ones. */
static void invalidate(taper_decoder *d, uint64_t offset, uint64_t end) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) {
        codec_group_reader *r = &d->readers.of_rate_class[t];
        codec_rendered *w = &d->rendered[t];
        if (r->images && concerns(&d->front, r->group, offset, end)) codec_group_reader_close(r);
        if (w->n && concerns(&d->front, w->group, offset, end)) w->n = 0;
    }
    d->readers.block.size = 0;
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
    uint64_t end = offset + n, from = d->front.front_size;
    int changed;
    if (end > file_end(d)) return refuse_tail(end - file_end(d), error);
    if (end <= from) return TAPER_OK; /* the front matter is known */
    if (offset < from) bytes += from - offset, n -= (size_t)(from - offset), offset = from;
    TAPER_TRY(keep_bytes(d, offset, bytes, n, &changed, error));
    if (changed) invalidate(d, offset, end);
    return TAPER_OK;
}

taper_status taper_decoder_supply(taper_decoder *d, uint64_t offset, const void *bytes, size_t size,
                                  taper_error *error) {
    uint64_t end;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need_array(bytes, size, 1, "the bytes", error));
    TAPER_TRY(begin(d, error));
    if (formats_add_u64(offset, size, &end) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_ARG, "%zu bytes at offset %llu are not a legal range",
                            size, (unsigned long long)offset);
    return d->front_ready ? supply_data(d, offset, bytes, size, error)
                          : supply_front(d, offset, bytes, size, error);
}

/* --- planning -------------------------------------------------------------------------- */

/* The missing ranges, ascending. All are counted; the first `capacity` are written. */
typedef struct wanted {
    taper_range *range;
    size_t capacity, count;
    uint64_t end; /* end of the last range */
} wanted;

static void list_range(wanted *w, uint64_t at, uint64_t end) {
    if (at >= end) return;
    if (!w->count || at != w->end) {
        if (w->count < w->capacity) w->range[w->count] = (taper_range){at, 0};
        w->count++;
    }
    w->end = end;
    if (w->count <= w->capacity) w->range[w->count - 1].size = end - w->range[w->count - 1].offset;
}

/* List those of bytes at .. end - 1 that were not supplied. */
static void list_missing(const taper_decoder *d, wanted *w, uint64_t at, uint64_t end) {
    while (at < end) {
        at += codec_byte_store_run(&d->held, at, NULL);
        uint64_t next = codec_byte_store_next(&d->held, at);
        list_range(w, at, next < end ? next : end);
        at = next;
    }
}

/* Nonzero if the block is complete and damaged. */
static int is_damaged(const taper_decoder *d, codec_file_range block, uint32_t sum) {
    const uint8_t *bytes = NULL;
    if (!block.size || codec_byte_store_run(&d->held, block.at, &bytes) < block.size) return 0;
    return formats_crc32c(0, bytes, (size_t)block.size) != sum;
}

/* List the missing bytes of the group's chunks, and all bytes of a damaged block. *damaged: nonzero
 * if there is one. */
static void list_chunks(const taper_decoder *d, uint32_t g, wanted *w, int *damaged) {
    const formats_front *f = &d->front;
    uint64_t size = d->source.size;
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        codec_file_range chunk = codec_chunk_range(f, layer, g),
                         block = codec_block_range(f, layer, g);
        uint64_t end = chunk.at + chunk.size;
        if (chunk.at >= size) break;
        if (block.at + block.size <= size &&
            is_damaged(d, block, codec_block_checksum(f, layer, g))) {
            list_range(w, block.at, block.at + block.size);
            *damaged = 1;
        } else {
            list_missing(d, w, chunk.at, end < size ? end : size);
        }
    }
}

static taper_status plan_front(const taper_decoder *d, wanted *w, taper_error *error) {
    if (d->failure.status == TAPER_OK) list_missing(d, w, 0, d->need);
    if (d->failure.status == TAPER_ERR_CORRUPT)
        list_range(w, 0, d->need); /* any byte may be damaged */
    if (d->failure.status != TAPER_OK && error) *error = d->failure;
    return d->failure.status;
}

/* Set the size of the source for this cut. */
static void cut_source(taper_decoder *d) {
    uint64_t size = source_end(d);
    if (size != d->source.size) {
        codec_group_readers_close(&d->readers);
        for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) d->rendered[t].n = 0;
    }
    d->source.size = size;
}

taper_status taper_decoder_plan(taper_decoder *d, uint64_t i, uint64_t cut, taper_range *ranges,
                                size_t capacity, size_t *count, taper_error *error) {
    wanted w = {ranges, capacity, 0, 0};
    taper_image_info info;
    int damaged = 0;
    TAPER_TRY(formats_need(count, "the count of ranges", error));
    *count = 0;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need_array(ranges, capacity, sizeof *ranges, "the ranges", error));
    TAPER_TRY(begin(d, error));
    d->cut = cut;
    if (!d->front_ready) {
        taper_status status = plan_front(d, &w, error);
        *count = w.count;
        return status;
    }
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    cut_source(d);
    list_chunks(d, info.group, &w, &damaged);
    *count = w.count;
    return damaged ? formats_fail(error, TAPER_ERR_CORRUPT,
                                  "bytes of group %u are damaged (checksum); fetch them again",
                                  info.group)
                   : TAPER_OK;
}
