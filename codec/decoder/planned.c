/* planned.c -- taper_decoder_plan and taper_decoder_plan_name: the bytes of a supplied container
 * (supplied.c) that an image needs; see taper.h. */
#include "codec/decoder/decoder.h"
#include "formats/name_pages.h"
#include <stdlib.h>

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
        at += codec_byte_store_run(&d->supplying.held, at, NULL);
        uint64_t next = codec_byte_store_next(&d->supplying.held, at);
        list_range(w, at, next < end ? next : end);
        at = next;
    }
}

/* Nonzero if the block is complete and damaged. */
static int is_damaged(const taper_decoder *d, codec_file_range block, uint32_t sum) {
    const uint8_t *bytes = NULL;
    if (!block.size || codec_byte_store_run(&d->supplying.held, block.at, &bytes) < block.size)
        return 0;
    return formats_crc32c(0, bytes, (size_t)block.size) != sum;
}

/* The last layer of which the cut has bytes of group g. */
static uint32_t last_layer(const taper_decoder *d, const formats_front *f, uint32_t g) {
    uint32_t last = 0;
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        const codec_file_range chunk = codec_chunk_range(f, layer, g);
        if (formats_front_layer_kind(f, layer) != FORMATS_LAYER_MODEL && chunk.size &&
            chunk.at < d->reading.source.size)
            last = layer;
    }
    return last;
}

/* List a stage of the model if it is missing, or all of it if it is damaged. */
static void list_stage(const taper_decoder *d, uint32_t layer, wanted *w, int *damaged) {
    const uint32_t next = codec_decoder_next_stage(d);
    const codec_file_range at = codec_layer_range(&d->own.front, &d->own.root, layer);
    if (layer < next) return; /* known, or another model is used */
    const int is_here = codec_byte_store_run(&d->supplying.held, at.at, NULL) >= at.size;
    if (layer == next && is_here) {
        list_range(w, at.at, at.at + at.size);
        *damaged = 1;
    } else {
        list_missing(d, w, at.at, at.at + at.size);
    }
}

/* List the missing bytes of the chunks of group g of this front, and all bytes of a damaged block;
 * and stages of the model before the last of them.
 * *damaged: nonzero if there is one. */
static void list_chunks(const taper_decoder *d, const formats_front *f, uint32_t g, wanted *w,
                        int *damaged) {
    uint64_t size = d->reading.source.size;
    const uint32_t last = last_layer(d, f, g);
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        if (formats_front_layer_kind(f, layer) == FORMATS_LAYER_MODEL) {
            if (layer < last) list_stage(d, layer, w, damaged);
            continue;
        }
        codec_file_range chunk = codec_chunk_range(f, layer, g),
                         block = codec_block_range(f, layer, g);
        uint64_t end = chunk.at + chunk.size;
        if (chunk.at >= size) break;
        if (!chunk.size) continue; /* whatever is damaged, it is other groups' */
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

/* List what is missing of leaf k, or all of it if it is damaged; *ready: nonzero if it is here. */
static taper_status plan_leaf(taper_decoder *d, uint32_t k, wanted *w, int *ready,
                              taper_error *error) {
    const uint64_t at = d->own.root.leaves_at + d->own.root.leaf[k].at,
                   end = d->own.root.leaves_at + d->own.root.leaf[k + 1].at;
    int missing;
    const taper_status status = codec_supplied_leaf(d, k, &missing, error);
    *ready = status == TAPER_OK && !missing;
    if (missing) list_missing(d, w, at, end);
    if (status == TAPER_ERR_CORRUPT) list_range(w, at, end);
    return status;
}

/* Set the size of the source for this cut. */
static void cut_source(taper_decoder *d) {
    uint64_t size = codec_supplied_end(d);
    if (size != d->reading.source.size) {
        codec_group_readers_close(&d->reading.readers);
        for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) d->rendered[t].n = 0;
    }
    d->reading.source.size = size;
}

/* The front matter is known but for leaves. */
static taper_status plan_image(taper_decoder *d, uint64_t i, wanted *w, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    int damaged = 0, ready = 1;
    if (d->own.root.leaves && i < d->own.front.images)
        TAPER_TRY(
            plan_leaf(d, formats_root_leaf_of_image(&d->own.root, (uint32_t)i), w, &ready, error));
    if (!ready) return TAPER_OK;
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    const formats_front *leaf = codec_container_leaf_of_image(&d->own, (uint32_t)info.same_as);
    list_chunks(d, leaf, info.group - leaf->first_group, w, &damaged);
    return damaged
               ? formats_fail(
                     error, TAPER_ERR_CORRUPT,
                     "bytes of group %u, or of the model, are damaged (checksum); fetch them again",
                     info.group)
               : TAPER_OK;
}

/* Check the arguments of both functions, and set the cut. */
static taper_status begin_plan(taper_decoder *d, uint64_t cut, const taper_range *ranges,
                               size_t capacity, size_t *count, taper_error *error) {
    TAPER_TRY(formats_need(count, "the count of ranges", error));
    *count = 0;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need_array(ranges, capacity, sizeof *ranges, "the ranges", error));
    TAPER_TRY(codec_supplied_begin(d, error));
    d->supplying.cut = cut;
    if (d->front_ready) cut_source(d);
    return TAPER_OK;
}

taper_status taper_decoder_plan(taper_decoder *d, uint64_t i, uint64_t cut, taper_range *ranges,
                                size_t capacity, size_t *count, taper_error *error) {
    wanted w = {ranges, capacity, 0, 0};
    TAPER_TRY(begin_plan(d, cut, ranges, capacity, count, error));
    const taper_status status =
        d->front_ready ? plan_image(d, i, &w, error) : plan_front(d, &w, error);
    *count = w.count;
    return status;
}

/* --- by name --------------------------------------------------------------------------- */

/* The leaves that may have the name: first .. first + n - 1, or list [n]. */
typedef struct candidates {
    uint32_t first, n;
    uint32_t *list; /* owned; NULL: not a list */
    int ready;      /* 0: the page of names is missing, and was listed */
} candidates;

/* From the page of hashes that has the name. */
static taper_status look_up(taper_decoder *d, const char *name, candidates *c, wanted *w,
                            taper_error *error) {
    const formats_root *r = &d->own.root;
    const uint32_t hash = formats_root_hash(r, name), p = formats_root_page(r, hash);
    const uint64_t at = r->pages_at + r->page_at[p], end = r->pages_at + r->page_at[p + 1];
    const uint8_t *bytes = (const uint8_t *)"";
    c->ready = at == end || codec_byte_store_run(&d->supplying.held, at, &bytes) >= end - at;
    if (!c->ready) {
        list_missing(d, w, at, end);
        return TAPER_OK;
    }
    formats_front charged = {.account = d->account};
    const taper_status status =
        formats_name_page_find(r, &charged, p, bytes, hash, &c->list, &c->n, error);
    if (status == TAPER_ERR_CORRUPT) list_range(w, at, end);
    return status;
}

static taper_status find_candidates(taper_decoder *d, const char *name, candidates *c, wanted *w,
                                    taper_error *error) {
    *c = (candidates){.ready = 1};
    if (d->own.root.find == FORMATS_FIND_HASHED) return look_up(d, name, c, w, error);
    if (d->own.root.find == FORMATS_FIND_ASCENDING)
        c->first = formats_root_leaf_of_name(&d->own.root, name), c->n = 1;
    return TAPER_OK;
}

/* Look for the name in leaves; *i stays UINT64_MAX while one of these is missing, or without such a
 * name. *ready: nonzero if all were here. */
static taper_status search_leaves(taper_decoder *d, const char *name, const candidates *c,
                                  uint64_t *i, wanted *w, int *ready, taper_error *error) {
    *ready = c->ready;
    for (uint32_t j = 0; j < c->n && *ready; j++) {
        const uint32_t k = c->list ? c->list[j] : c->first + j;
        TAPER_TRY(plan_leaf(d, k, w, ready, error));
        if (!*ready) return TAPER_OK;
        const uint32_t found = formats_leaf_find(d->own.leaf[k], name);
        if (found == UINT32_MAX) continue;
        *i = (uint64_t)d->own.leaf[k]->first_image + found;
        return TAPER_OK;
    }
    return TAPER_OK;
}

static taper_status find_name(taper_decoder *d, const char *name, uint64_t *i, wanted *w,
                              int *ready, taper_error *error) {
    candidates c;
    *ready = 1;
    if (!d->own.root.leaves) {
        const uint32_t found = formats_leaf_find(&d->own.front, name);
        if (found < UINT32_MAX) *i = found;
        return TAPER_OK;
    }
    taper_status status = find_candidates(d, name, &c, w, error);
    if (status == TAPER_OK) status = search_leaves(d, name, &c, i, w, ready, error);
    free(c.list);
    return status;
}

taper_status taper_decoder_plan_name(taper_decoder *d, const char *name, uint64_t cut,
                                     taper_range *ranges, size_t capacity, size_t *count,
                                     uint64_t *i, taper_error *error) {
    wanted w = {ranges, capacity, 0, 0};
    int ready = 0;
    TAPER_TRY(formats_need(i, "the place of the image's number", error));
    *i = UINT64_MAX;
    TAPER_TRY(begin_plan(d, cut, ranges, capacity, count, error));
    TAPER_TRY(formats_need(name, "the name", error));
    taper_status status =
        d->front_ready ? find_name(d, name, i, &w, &ready, error) : plan_front(d, &w, error);
    if (status == TAPER_OK && *i < UINT64_MAX)
        status = plan_image(d, *i, &w, error);
    else if (status == TAPER_OK && ready)
        status =
            formats_fail(error, TAPER_ERR_ARG, "no image of the container is named %.200s", name);
    *count = w.count;
    return status;
}
