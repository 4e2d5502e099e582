/* kept_groups.c -- see kept_groups.h. */
#include "codec/decoder/kept_groups.h"
#include <stdlib.h>
#include <string.h>

/* Memory that all groups take, at most: beyond it the least recently used are dropped. A quarter of
 * the limit, if that is less. */
enum { MOST_MEMORY = 256 << 20 };

int codec_group_concerns(const formats_front *f, uint32_t g, uint64_t offset, uint64_t end) {
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        codec_file_range block = codec_block_range(f, layer, g);
        if (block.at < end && offset < block.at + block.size) return 1;
    }
    return 0;
}

/* --- the list -------------------------------------------------------------------------- */

static codec_kept_group *find(const codec_kept_groups *ks, const formats_front *f, uint32_t g) {
    for (size_t i = 0; i < ks->n; i++)
        if (ks->group[i]->front == f && ks->group[i]->reader.group == g) return ks->group[i];
    return NULL;
}

int codec_kept_groups_has(const codec_kept_groups *ks, uint32_t number) {
    for (size_t i = 0; i < ks->n; i++)
        if (ks->group[i]->reader.number == number) return 1;
    return 0;
}

static codec_kept_group *add(codec_kept_groups *ks) {
    if (ks->n == ks->capacity) {
        const size_t capacity = ks->capacity ? 2 * ks->capacity : 16;
        codec_kept_group **more = realloc(ks->group, capacity * sizeof *more);
        if (!more) return NULL;
        ks->group = more, ks->capacity = capacity;
    }
    codec_kept_group *k = calloc(1, sizeof *k);
    if (k) ks->group[ks->n++] = k;
    return k;
}

static void drop(codec_kept_groups *ks, size_t i) {
    codec_kept_group *k = ks->group[i];
    ks->group[i] = ks->group[--ks->n];
    if (ks->current == k) ks->current = NULL;
    codec_awake_remove(&ks->awake, &k->reader.strips);
    codec_group_reader_close(&k->reader);
    formats_account_give(ks->account, sizeof *k);
    free(k);
}

static void drop_this(codec_kept_groups *ks, const codec_kept_group *k) {
    for (size_t i = 0; i < ks->n; i++)
        if (ks->group[i] == k) {
            drop(ks, i);
            return;
        }
}

/* The one that was used longest ago, other than the current one; n: there is none. */
static size_t least_used(const codec_kept_groups *ks) {
    size_t least = ks->n;
    for (size_t i = 0; i < ks->n; i++)
        if (ks->group[i] != ks->current &&
            (least == ks->n || ks->group[i]->used_at < ks->group[least]->used_at))
            least = i;
    return least;
}

static uint64_t bytes_of(const codec_kept_group *k) {
    return k->bytes + codec_strips_held(&k->reader.strips);
}

static void fit(codec_kept_groups *ks) {
    const uint64_t quarter = ks->account->limit / 4,
                   most = quarter < MOST_MEMORY ? quarter : MOST_MEMORY;
    uint64_t sum = 0;
    for (size_t i = 0; i < ks->n; i++) sum += bytes_of(ks->group[i]);
    for (size_t i; sum > most && (i = least_used(ks)) < ks->n; drop(ks, i))
        sum -= bytes_of(ks->group[i]);
}

/* --- decoding -------------------------------------------------------------------------- */

/* Check a block that was not checked yet. Returns 0 if it is complete and damaged. */
static int check_block(codec_kept_group *k, const codec_chunk_source *from, uint32_t layer) {
    const codec_group_reader *r = &k->reader;
    const uint64_t bit = (uint64_t)1 << layer % 64;
    const codec_file_range block = codec_block_range(k->front, layer, r->group);
    const uint8_t *bytes;
    if (formats_front_layer_kind(k->front, layer) == FORMATS_LAYER_MODEL)
        return 1; /* checks itself */
    if (k->checked[layer / 64] & bit || !codec_chunk_range(k->front, layer, r->group).size)
        return 1;
    if (block.at > from->source->size || codec_chunk_bytes_there(from, block) < block.size)
        return 1;
    (void)codec_byte_store_run(from->held, block.at, &bytes);
    if (formats_crc32c(0, bytes, (size_t)block.size) !=
        codec_block_checksum(k->front, layer, r->group))
        return 0;
    k->checked[layer / 64] |= bit;
    return 1;
}

static taper_status no_memory(const codec_kept_groups *ks, taper_status status, uint64_t bytes,
                              taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                   formats_account_step(ks->account, bytes),
                                   "a chunk takes %llu bytes, more memory than is left",
                                   (unsigned long long)bytes)
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk of %llu bytes",
                              (unsigned long long)bytes);
}

/* Give the reader what is new of its chunk. *more: nonzero: it is complete, and others follow. */
static taper_status take_chunk(const codec_kept_groups *ks, codec_kept_group *k,
                               const codec_chunk_source *from, int *more, taper_error *error) {
    codec_group_reader *r = &k->reader;
    const uint32_t layer = r->layer;
    const codec_file_range chunk = codec_chunk_range(k->front, layer, r->group);
    const uint64_t there = codec_chunk_bytes_there(from, chunk);
    const uint8_t *bytes;
    *more = 0;
    if (chunk.at > from->source->size || (!there && chunk.size)) return TAPER_OK;
    if (there > r->chunk.size) {
        (void)codec_byte_store_run(from->held, chunk.at + r->chunk.size, &bytes);
        const taper_status fed = codec_group_reader_feed(r, bytes, (size_t)(there - r->chunk.size));
        if (fed != TAPER_OK) return no_memory(ks, fed, there, error);
    }
    if (there < chunk.size) return codec_group_reader_decode(r, k->front, error);
    const taper_status status =
        codec_group_reader_end_chunk(r, k->front, layer, check_block(k, from, layer));
    if (status != TAPER_OK) return no_memory(ks, status, there, error);
    *more = !r->bad && !r->again && r->layer < k->front->layers;
    return TAPER_OK;
}

/* Decode what is there. reader.again: it must be decoded from the beginning. */
static taper_status decode_more(const codec_kept_groups *ks, codec_kept_group *k,
                                const codec_chunk_source *from, taper_error *error) {
    codec_group_reader *r = &k->reader;
    k->stale = 0;
    r->strips.pool = ks->pool;
    for (uint32_t layer = 0; layer < r->layer && !r->again; layer++)
        r->again = !check_block(k, from, layer);
    for (int more = !r->again && !r->bad && r->layer < k->front->layers; more;)
        TAPER_TRY(take_chunk(ks, k, from, &more, error));
    if (!r->again && (r->bad || r->layer == k->front->layers)) {
        codec_group_reader_end(r, k->front);
        k->ended = 1;
    }
    return TAPER_OK;
}

static taper_status open_again(const codec_kept_groups *ks, codec_kept_group *k,
                               const taper_model *model, uint32_t g, taper_error *error) {
    codec_group_reader_close(&k->reader);
    memset(k->checked, 0, sizeof k->checked);
    k->ended = 0;
    TAPER_TRY(codec_group_reader_open(&k->reader, model, k->front, g, ks->account, error));
    k->reader.is_supplied = 1;
    codec_group_reader_limit(&k->reader, k->pass_limit = ks->pass_limit);
    return TAPER_OK;
}

/* Bring a group up to date; its state may be parked. */
static taper_status decode_new(const codec_kept_groups *ks, codec_kept_group *k,
                               const taper_model *model, const codec_chunk_source *from, uint32_t g,
                               taper_error *error) {
    const int is_open = k->reader.images && k->pass_limit == ks->pass_limit,
              is_whole = !k->reader.bad && k->reader.layer == k->front->layers;
    if (is_open && !k->stale) return TAPER_OK;
    if (is_open && (!k->ended || is_whole)) { /* then only blocks are left to check */
        TAPER_TRY(decode_more(ks, k, from, error));
        if (!k->reader.again) return TAPER_OK;
    }
    TAPER_TRY(open_again(ks, k, model, g, error));
    return decode_more(ks, k, from, error);
}

/* Bring a group up to date, and wake it for reading. */
static taper_status refresh(codec_kept_groups *ks, codec_kept_group *k, const taper_model *model,
                            const codec_chunk_source *from, uint32_t g, taper_error *error) {
    codec_strips *strips = &k->reader.strips;
    codec_awake_use(&ks->awake, strips, ks->account);
    const uint64_t before = ks->account->used - codec_strips_held(strips);
    taper_status status = decode_new(ks, k, model, from, g, error);
    if (status == TAPER_OK) {
        status = codec_strips_wake(strips, 0);
        if (status != TAPER_OK) no_memory(ks, status, codec_strips_missing(strips), error);
    }
    k->bytes += ks->account->used - codec_strips_held(strips) - before; /* modulo 2^64 */
    return status;
}

taper_status codec_kept_groups_open(codec_kept_groups *ks, const taper_model *model,
                                    const codec_chunk_source *from, uint32_t g,
                                    codec_group_reader **out, taper_error *error) {
    codec_kept_group *k = find(ks, from->front, g);
    ks->current = NULL;
    *out = NULL;
    if (!k) {
        if (formats_account_take(ks->account, sizeof *k) != TAPER_OK)
            return no_memory(ks, TAPER_ERR_LIMIT, sizeof *k, error);
        if (!(k = add(ks))) formats_account_give(ks->account, sizeof *k);
        if (!k) return no_memory(ks, TAPER_ERR_NOMEM, sizeof *k, error);
        k->front = from->front;
    }
    const taper_status status = refresh(ks, k, model, from, g, error);
    if (status != TAPER_OK) {
        drop_this(ks, k);
        return status;
    }
    k->used_at = ++ks->calls;
    ks->current = k;
    *out = &k->reader;
    fit(ks);
    return TAPER_OK;
}

/* --- changes --------------------------------------------------------------------------- */

void codec_kept_groups_supplied(codec_kept_groups *ks, uint64_t offset, uint64_t end,
                                int replaced) {
    for (size_t i = ks->n; i-- > 0;) {
        codec_kept_group *k = ks->group[i];
        if (!codec_group_concerns(k->front, k->reader.group, offset, end)) continue;
        k->stale = 1;
        if (replaced) drop(ks, i);
    }
}

void codec_kept_groups_cut(codec_kept_groups *ks, uint64_t before, uint64_t now) {
    for (size_t i = ks->n; i-- > 0;) {
        codec_kept_group *k = ks->group[i];
        k->stale |= codec_group_concerns(k->front, k->reader.group, before, now);
        if (now < before && codec_group_concerns(k->front, k->reader.group, now, before))
            drop(ks, i);
    }
}

void codec_kept_groups_shrink(codec_kept_groups *ks) {
    for (size_t i = ks->n; i-- > 0;)
        if (ks->group[i] != ks->current) drop(ks, i);
    codec_kept_group *k = ks->current;
    if (!k || k->ended) return;
    const uint64_t before = ks->account->used - codec_strips_held(&k->reader.strips);
    codec_group_reader_end(&k->reader, k->front);
    k->bytes += ks->account->used - codec_strips_held(&k->reader.strips) - before;
    k->ended = 1;
}

void codec_kept_groups_set_pool(codec_kept_groups *ks, struct codec_pool *pool) {
    ks->pool = pool;
    for (size_t i = 0; i < ks->n; i++) ks->group[i]->reader.strips.pool = pool;
}

void codec_kept_groups_free(codec_kept_groups *ks) {
    while (ks->n) drop(ks, ks->n - 1);
    free(ks->group);
    ks->group = NULL, ks->capacity = 0;
}
