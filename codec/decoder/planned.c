/* planned.c -- taper_decoder_plan and taper_decoder_plan_name: the bytes of a supplied container
 * (supplied.c) that an image needs; see taper.h. */
#include "codec/decoder/planned.h"
#include "formats/name_pages.h"
#include <stdlib.h>

void codec_plan_add(codec_plan *w, uint64_t at, uint64_t end) {
    if (w->count && at < w->end) at = w->end;
    if (at >= end) return;
    if (!w->count || at - w->end > w->max_gap) {
        if (w->count < w->capacity) w->range[w->count] = (taper_range){at, 0};
        w->count++;
        w->end = at;
    }
    w->bytes += end - w->end;
    w->end = end;
    if (w->count <= w->capacity) w->range[w->count - 1].size = end - w->range[w->count - 1].offset;
}

void codec_plan_missing(const taper_decoder *d, codec_plan *w, uint64_t at, uint64_t end) {
    while (at < end) {
        at += codec_byte_store_run(&d->supplying.held, at, NULL);
        uint64_t next = codec_byte_store_next(&d->supplying.held, at);
        codec_plan_add(w, at, next < end ? next : end);
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

int codec_plan_wants(const taper_decoder *d, const formats_front *f, uint32_t layer, uint32_t g) {
    const uint32_t kind = formats_front_layer_kind(f, layer);
    return !layer || (kind != FORMATS_LAYER_PASSES && kind != FORMATS_LAYER_EXACT) ||
           formats_front_layer_end(f, layer - 1, g) < d->passes;
}

/* List what is missing of a stage of the model, or all of it if it is damaged: nonzero. All groups
 * have it in the same place. One that the cut does not have whole is of no use. */
static int plan_stage(const taper_decoder *d, const codec_chunk_part *of, codec_plan *w) {
    const uint32_t next = codec_decoder_next_stage(d);
    const codec_file_range at = codec_layer_range(&d->own.front, &d->own.root, of->layer);
    if (of->layer < next) return 0; /* it is known, or another model is used */
    if (at.at + at.size > d->reading.source.size) return 0;
    if (of->layer == next && codec_byte_store_run(&d->supplying.held, at.at, NULL) >= at.size) {
        if (d->supplying.stage != TAPER_ERR_CORRUPT) return 0; /* memory lacks, not bytes */
        codec_plan_add(w, at.at, at.at + at.size);
        return 1;
    }
    codec_plan_missing(d, w, at.at, at.at + (uint64_t)((double)at.size * of->part));
    return 0;
}

int codec_plan_chunk(const taper_decoder *d, const codec_chunk_part *of, codec_plan *w) {
    if (formats_front_layer_kind(of->front, of->layer) == FORMATS_LAYER_MODEL)
        return plan_stage(d, of, w);
    const uint64_t size = d->reading.source.size;
    const codec_file_range chunk = codec_chunk_range(of->front, of->layer, of->group),
                           block = codec_block_range(of->front, of->layer, of->group);
    if (chunk.at >= size || !chunk.size) return 0; /* whatever is damaged, it is other groups' */
    if (block.at + block.size <= size &&
        is_damaged(d, block, codec_block_checksum(of->front, of->layer, of->group))) {
        codec_plan_add(w, block.at, block.at + block.size);
        return 1;
    }
    const uint64_t end = chunk.at + (uint64_t)((double)chunk.size * of->part);
    codec_plan_missing(d, w, chunk.at, end < size ? end : size);
    return 0;
}

taper_status codec_plan_damage(const taper_decoder *d, uint32_t group, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "bytes of group %u%s are damaged (checksum); fetch them again", group,
                        d->own.front.has_stages ? ", or of the model," : "");
}

/* List the missing bytes of the chunks of group g of this front, and all bytes of a damaged block.
 * *damaged: nonzero if there is one. */
static void list_chunks(const taper_decoder *d, const formats_front *f, uint32_t g, codec_plan *w,
                        int *damaged) {
    for (uint32_t layer = 0; layer < f->layers; layer++)
        if (codec_plan_wants(d, f, layer, g))
            *damaged |= codec_plan_chunk(d, &(codec_chunk_part){f, layer, g, 1}, w);
}

taper_status codec_plan_front(const taper_decoder *d, codec_plan *w, taper_error *error) {
    if (d->failure.status == TAPER_OK) codec_plan_missing(d, w, 0, d->need);
    if (d->failure.status == TAPER_ERR_CORRUPT)
        codec_plan_add(w, 0, d->need); /* any byte may be damaged */
    if (d->failure.status != TAPER_OK && error) *error = d->failure;
    return d->failure.status;
}

taper_status codec_plan_leaf(taper_decoder *d, uint32_t k, codec_plan *w, int *ready,
                             taper_error *error) {
    const uint64_t at = d->own.root.leaves_at + d->own.root.leaf[k].at,
                   end = d->own.root.leaves_at + d->own.root.leaf[k + 1].at;
    int missing;
    const taper_status status = codec_supplied_leaf(d, k, &missing, error);
    *ready = status == TAPER_OK && !missing;
    if (missing) codec_plan_missing(d, w, at, end);
    if (status == TAPER_ERR_CORRUPT) codec_plan_add(w, at, end);
    return status;
}

/* Set the size of the source for this cut. */
static void cut_source(taper_decoder *d) {
    uint64_t size = codec_supplied_end(d);
    if (size != d->reading.source.size) {
        codec_group_readers_close(&d->reading.readers);
        codec_kept_groups_cut(&d->supplying.groups, d->reading.source.size, size);
        for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++) d->rendered[t].n = 0;
    }
    d->reading.source.size = size;
}

/* The front matter is known but for leaves. */
static taper_status plan_image(taper_decoder *d, uint64_t i, codec_plan *w, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    int damaged = 0, ready = 1;
    if (d->own.root.leaves && i < d->own.front.images)
        TAPER_TRY(codec_plan_leaf(d, formats_root_leaf_of_image(&d->own.root, (uint32_t)i), w,
                                  &ready, error));
    if (!ready) return TAPER_OK;
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    const formats_front *leaf = codec_container_leaf_of_image(&d->own, (uint32_t)info.same_as);
    list_chunks(d, leaf, info.group - leaf->first_group, w, &damaged);
    return damaged ? codec_plan_damage(d, info.group, error) : TAPER_OK;
}

taper_status codec_plan_begin(taper_decoder *d, uint64_t cut, const taper_range *ranges,
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
    codec_plan w = {.range = ranges, .capacity = capacity};
    TAPER_TRY(codec_plan_begin(d, cut, ranges, capacity, count, error));
    const taper_status status =
        d->front_ready ? plan_image(d, i, &w, error) : codec_plan_front(d, &w, error);
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
static taper_status look_up(taper_decoder *d, const char *name, candidates *c, codec_plan *w,
                            taper_error *error) {
    const formats_root *r = &d->own.root;
    const uint32_t hash = formats_root_hash(r, name), p = formats_root_page(r, hash);
    const uint64_t at = r->pages_at + r->page_at[p], end = r->pages_at + r->page_at[p + 1];
    const uint8_t *bytes = (const uint8_t *)"";
    c->ready = at == end || codec_byte_store_run(&d->supplying.held, at, &bytes) >= end - at;
    if (!c->ready) {
        codec_plan_missing(d, w, at, end);
        return TAPER_OK;
    }
    formats_front charged = {.account = d->account};
    const taper_status status =
        formats_name_page_find(r, &charged, p, bytes, hash, &c->list, &c->n, error);
    if (status == TAPER_ERR_CORRUPT) codec_plan_add(w, at, end);
    return status;
}

static taper_status find_candidates(taper_decoder *d, const char *name, candidates *c,
                                    codec_plan *w, taper_error *error) {
    *c = (candidates){.ready = 1};
    if (d->own.root.find == FORMATS_FIND_HASHED) return look_up(d, name, c, w, error);
    if (d->own.root.find == FORMATS_FIND_ASCENDING)
        c->first = formats_root_leaf_of_name(&d->own.root, name), c->n = 1;
    return TAPER_OK;
}

/* Look for the name in leaves; *i stays UINT64_MAX while one of these is missing, or without such a
 * name. *ready: nonzero if all were here. */
static taper_status search_leaves(taper_decoder *d, const char *name, const candidates *c,
                                  uint64_t *i, codec_plan *w, int *ready, taper_error *error) {
    *ready = c->ready;
    for (uint32_t j = 0; j < c->n && *ready; j++) {
        const uint32_t k = c->list ? c->list[j] : c->first + j;
        TAPER_TRY(codec_plan_leaf(d, k, w, ready, error));
        if (!*ready) return TAPER_OK;
        const uint32_t found = formats_leaf_find(d->own.leaf[k], name);
        if (found == UINT32_MAX) continue;
        *i = (uint64_t)d->own.leaf[k]->first_image + found;
        return TAPER_OK;
    }
    return TAPER_OK;
}

static taper_status find_name(taper_decoder *d, const char *name, uint64_t *i, codec_plan *w,
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
    codec_plan w = {.range = ranges, .capacity = capacity};
    int ready = 0;
    TAPER_TRY(formats_need(i, "the place of the image's number", error));
    *i = UINT64_MAX;
    TAPER_TRY(codec_plan_begin(d, cut, ranges, capacity, count, error));
    TAPER_TRY(formats_need(name, "the name", error));
    taper_status status =
        d->front_ready ? find_name(d, name, i, &w, &ready, error) : codec_plan_front(d, &w, error);
    if (status == TAPER_OK && *i < UINT64_MAX)
        status = plan_image(d, *i, &w, error);
    else if (status == TAPER_OK && ready)
        status =
            formats_fail(error, TAPER_ERR_ARG, "no image of the container is named %.200s", name);
    *count = w.count;
    return status;
}
