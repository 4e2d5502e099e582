/* merge_chunks.c -- see merge_chunks.h. */
#include "codec/container/merge_chunks.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/decoder/front_load.h"
#include "codec/decoder/verify.h"
#include "codec/groups/chunk_padding.h"
#include "codec/model/builtin_models.h"
#include <stdlib.h>
#include <string.h>

/* --- padding --------------------------------------------------------------------------- */

/* The window of the model, which is sought when the first image may have several strips. */
typedef struct sought_window {
    const taper_model *given; /* NULL: none */
    const formats_front *result;
    const taper_limits *limits;
    int is_sought, is_known;
    codec_window window;
} sought_window;

static taper_status seek_window(sought_window *of, taper_error *error) {
    codec_builtin_model builtin;
    taper_model *carried = NULL;
    const taper_model *model = of->given;
    if (of->is_sought) return TAPER_OK;
    if (!model && codec_builtin_model_of(of->result->model_id, &builtin) && builtin.constant) {
        model =
            builtin.constant; /* an embedding model, which no container is made with, has none */
    } else if (!model && of->result->model) {
        TAPER_TRY(codec_front_model(of->result, of->limits, &carried, error));
        model = carried;
    }
    of->is_sought = 1, of->is_known = model != NULL;
    if (model) of->window = model->window;
    of->window.lap = NULL; /* it is the model's */
    taper_model_free(carried);
    return TAPER_OK;
}

/* The strips of group g of a shard, as far as they are known. */
static taper_status count_strips(const formats_front *f, uint32_t g, sought_window *of,
                                 uint32_t *strips, taper_error *error) {
    static const codec_window smallest = {1, 1, 1, NULL};
    *strips = 1;
    if (codec_chunk_strips(f, g, smallest) == 1) return TAPER_OK;
    TAPER_TRY(seek_window(of, error));
    if (of->is_known) *strips = codec_chunk_strips(f, g, of->window);
    return TAPER_OK;
}

/* Nonzero if chunk g of layer `own` of a shard is complete, is of use, and is marked as cut in the
 * result. */
static int needs_padding(const formats_front *result, const formats_front *f, uint32_t layer,
                         uint32_t own, uint32_t group, uint32_t g) {
    if (!codec_chunk_is_cut(result, layer, group) || codec_chunk_is_cut(f, own, g)) return 0;
    const uint64_t *at = f->chunk_at + (uint64_t)own * f->groups + g;
    if (formats_front_layer_kind(f, own) != FORMATS_LAYER_PASSES) return at[1] > at[0];
    return formats_front_layer_end(f, own, g) > (own ? formats_front_layer_end(f, own - 1, g) : 0);
}

/* Find the padding of the chunks of shard s. */
static taper_status pad_shard(codec_merging *m, const formats_front *result, size_t s,
                              sought_window *window, taper_error *error) {
    const formats_front *f = &m->front[s];
    const uint32_t l = result->layers - 1;
    const int32_t own = m->layers[s].layer_at[l];
    if (own < 0) return TAPER_OK;
    const int has_passes = formats_front_layer_kind(f, (uint32_t)own) == FORMATS_LAYER_PASSES;
    for (uint32_t g = 0, group = m->first[s].group; g < f->groups; g++, group++) {
        if (!needs_padding(result, f, l, (uint32_t)own, group, g)) continue;
        m->padding[group] = 1;
        if (has_passes) TAPER_TRY(count_strips(f, g, window, &m->padding[group], error));
    }
    return TAPER_OK;
}

taper_status codec_merge_pad(codec_merging *m, formats_front *result, const taper_limits *limits,
                             taper_error *error) {
    sought_window window = {.given = m->model, .result = result, .limits = limits};
    const taper_status status = m->model ? codec_front_match(result, m->model, error) : TAPER_OK;
    if (status != TAPER_OK && error) error->item = 1; /* all have the model of the first */
    if (status != TAPER_OK || !result->tail) return status;
    TAPER_TRY(formats_front_take(result, result->groups, sizeof *m->padding, &m->padding, error));
    for (size_t s = 0; s < m->n; s++) TAPER_TRY(pad_shard(m, result, s, &window, error));
    return TAPER_OK;
}

/* The bytes behind the chunk of this group in the layer that has cut chunks. */
static uint64_t padding_of(const codec_merging *m, uint32_t group) {
    return m->padding && m->padding[group] ? codec_chunk_padding_bytes(m->padding[group]) : 0;
}

/* --- places ---------------------------------------------------------------------------- */

static size_t shard_of(const codec_merging *m, uint32_t group) {
    size_t low = 0, high = m->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m->first[middle].group <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Bytes of chunk g of layer `own` of a shard. */
static uint64_t length_of(const formats_front *f, uint32_t own, uint32_t g) {
    const uint64_t *at = f->chunk_at + (uint64_t)own * f->groups + g;
    return at[1] - at[0];
}

taper_status codec_merge_place(const codec_merging *m, formats_front *f, taper_error *error) {
    uint64_t chunks = (uint64_t)f->layers * f->groups, c = 0;
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    for (uint32_t l = 0; l < f->layers; l++)
        for (size_t s = 0; s < m->n; s++)
            for (uint32_t g = 0; g < m->front[s].groups; g++, c++) {
                const int32_t own = m->layers[s].layer_at[l];
                f->chunk_at[c + 1] = f->chunk_at[c];
                if (own < 0) continue;
                f->chunk_at[c + 1] += length_of(&m->front[s], (uint32_t)own, g);
                if (l + 1 == f->layers) f->chunk_at[c + 1] += padding_of(m, m->first[s].group + g);
            }
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    return TAPER_OK;
}

/* --- what is kept of fronts ------------------------------------------------------------- */

/* The same front with nothing but chunks and their checksums, which are copied to *at and *sum. */
static formats_front chunks_only(const formats_front *f, uint64_t **at, uint32_t **sum) {
    const uint64_t chunks = (uint64_t)f->layers * f->groups, sums = formats_front_checksums(f);
    const formats_front kept = {.layout = f->layout,
                                .groups = f->groups,
                                .layers = f->layers,
                                .chunks_per_checksum = f->chunks_per_checksum,
                                .chunk_at = *at,
                                .checksum = *sum,
                                .front_size = f->front_size};
    memcpy(*at, f->chunk_at, ((size_t)chunks + 1) * sizeof **at);
    memcpy(*sum, f->checksum, (size_t)sums * sizeof **sum);
    *at += chunks + 1, *sum += sums;
    return kept;
}

taper_status codec_merge_keep(codec_merging *m, formats_front *result, taper_error *error) {
    uint64_t chunks = 0, sums = 0;
    for (size_t s = 0; s < m->n; s++) {
        chunks += (uint64_t)m->front[s].layers * m->front[s].groups + 1;
        sums += formats_front_checksums(&m->front[s]);
    }
    TAPER_TRY(formats_front_take(result, chunks, sizeof *m->chunk_at, &m->chunk_at, error));
    TAPER_TRY(formats_front_take(result, sums, sizeof *m->checksum, &m->checksum, error));
    uint64_t *at = m->chunk_at;
    uint32_t *sum = m->checksum;
    for (size_t s = 0; s < m->n; s++) {
        const formats_front kept = chunks_only(&m->front[s], &at, &sum);
        formats_front_free(&m->front[s]);
        m->front[s] = kept;
    }
    formats_account_give(&result->account, m->charged);
    m->charged = 0;
    return TAPER_OK;
}

void codec_merge_free(codec_merging *m) {
    for (size_t s = 0; m->front && s < m->n; s++) {
        if (m->chunk_at && m->checksum) m->front[s].chunk_at = NULL, m->front[s].checksum = NULL;
        formats_front_free(&m->front[s]);
    }
    for (size_t s = 0; m->unstaged && s < m->n; s++) free(m->unstaged[s]);
    if (m->layers) free(m->layers[0].layer_at);
    free(m->front), free(m->layers), free(m->first), free(m->unstaged), free(m->data);
    free(m->chunk_at), free(m->checksum), free(m->padding);
}

/* --- checksums ------------------------------------------------------------------------- */

enum { READ_BLOCK = 1 << 17 };

/* A shard that is read from the beginning of its data to their end. */
typedef struct passing {
    codec_merged_chunks *out;
    size_t s;
    uint64_t at, end;  /* of what was not read into `bytes` yet */
    size_t used, held; /* of bytes */
    uint8_t bytes[READ_BLOCK];
} passing;

static taper_status fill_bytes(passing *p) {
    const taper_source *source = &p->out->merge->data[p->s];
    const uint64_t left = p->end - p->at;
    p->used = 0, p->held = left < READ_BLOCK ? (size_t)left : READ_BLOCK;
    TAPER_TRY(source->read(source->user, p->at, p->bytes, p->held));
    p->at += p->held;
    return TAPER_OK;
}

/* Layers of passes that end at one pass may have another order in the result. */
static void seek_byte(passing *p, uint64_t at) {
    if (p->at - (p->held - p->used) == at) return;
    p->at = at, p->used = p->held = 0;
}

/* Continue two checksums with the next n bytes; `other` may be NULL. */
static taper_status pass_bytes(passing *p, uint64_t n, uint32_t *sum, uint32_t *other) {
    while (n) {
        if (p->used == p->held) TAPER_TRY(fill_bytes(p));
        const size_t there = p->held - p->used, now = n < there ? (size_t)n : there;
        *sum = formats_crc32c(*sum, p->bytes + p->used, now);
        if (other) *other = formats_crc32c(*other, p->bytes + p->used, now);
        p->used += now, n -= now;
    }
    return TAPER_OK;
}

/* Continue the checksum with what is behind the chunk of this group. */
static void pass_padding(const codec_merging *m, uint32_t group, uint32_t *sum) {
    uint8_t bytes[256];
    const uint64_t all = padding_of(m, group);
    for (uint64_t at = 0; at < all; at += sizeof bytes) {
        const size_t n = all - at < sizeof bytes ? (size_t)(all - at) : sizeof bytes;
        codec_chunk_padding_copy(m->padding[group], at, bytes, n);
        *sum = formats_crc32c(*sum, bytes, n);
    }
}

/* Read layer `own` of the shard, which is `layer` in the result. *holds: set to 0 where a checksum
 * is wrong. Where a block is one chunk in both, its checksum is computed once. */
static taper_status pass_layer(passing *p, uint32_t layer, uint32_t own, int *holds) {
    const codec_merged_chunks *out = p->out;
    const codec_merging *m = out->merge;
    const formats_front *f = &m->front[p->s];
    const uint32_t per = f->chunks_per_checksum, blocks = (f->groups + per - 1) / per,
                   all = (out->result->groups + out->per - 1) / out->per;
    const int is_equal = per == 1 && out->per == 1;
    uint32_t sum = 0;
    seek_byte(p, f->front_size + f->chunk_at[(uint64_t)own * f->groups]);
    for (uint32_t g = 0; g < f->groups; g++) {
        const uint32_t group = m->first[p->s].group + g;
        uint32_t *to = &out->sum[(size_t)layer * all + group / out->per];
        TAPER_TRY(pass_bytes(p, length_of(f, own, g), &sum, is_equal ? NULL : to));
        if (is_equal) *to = sum;
        if (layer == out->cut_layer) pass_padding(m, group, to);
        if ((g + 1) % per && g + 1 < f->groups) continue;
        if (sum != f->checksum[(size_t)own * blocks + g / per]) *holds = 0;
        sum = 0;
    }
    return TAPER_OK;
}

/* Say how much of a shard is damaged. */
static taper_status refuse_damaged(const codec_merging *m, size_t s, taper_error *error) {
    taper_error why = {0};
    const taper_status status =
        codec_refuse_damage(&m->front[s], &m->data[s], UINT64_MAX, NULL, &why);
    if (status != TAPER_OK)
        return formats_fail_as(error, status, &why, "container %zu: %s", s + 1, why.text);
    return formats_fail(error, TAPER_ERR_CORRUPT, "container %zu changed while it was read", s + 1);
}

static taper_status pass_shard(passing *p, size_t s, taper_error *error) {
    const codec_merging *m = p->out->merge;
    const formats_front *f = &m->front[s];
    int holds = 1;
    taper_status status = TAPER_OK;
    p->s = s, p->used = p->held = 0;
    p->at = f->front_size, p->end = p->at + f->chunk_at[(uint64_t)f->layers * f->groups];
    for (uint32_t l = 0; l < p->out->layers && status == TAPER_OK; l++)
        if (m->layers[s].layer_at[l] >= 0)
            status = pass_layer(p, l, (uint32_t)m->layers[s].layer_at[l], &holds);
    if (status != TAPER_OK)
        return formats_fail(error, status,
                            "container %zu: the container could not be read to its end", s + 1);
    return holds ? TAPER_OK : refuse_damaged(m, s, error);
}

/* --- reading --------------------------------------------------------------------------- */

/* Nonzero if bytes are behind this chunk that no shard has. */
static int is_padded(const codec_merged_chunks *c, uint32_t layer, uint32_t group) {
    return layer == c->cut_layer && c->merge->padding[group];
}

/* The bytes of chunks that follow one another in a shard, or of a chunk and what is behind it. */
static taper_status read_merged(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                                size_t n) {
    const codec_merged_chunks *c = user;
    const codec_merging *m = c->merge;
    const size_t s = shard_of(m, group);
    const formats_front *f = &m->front[s];
    const taper_source *source = &m->data[s];
    const int32_t own = m->layers[s].layer_at[layer];
    const uint32_t g = group - m->first[s].group;
    const uint64_t length = own < 0 ? 0 : length_of(f, (uint32_t)own, g);
    const uint64_t at =
        own < 0 ? 0 : f->front_size + f->chunk_at[(uint64_t)own * f->groups + g] + from;
    if (!is_padded(c, layer, group)) return source->read(source->user, at, to, n);
    const size_t bytes = from >= length ? 0 : length - from < n ? (size_t)(length - from) : n;
    codec_chunk_padding_copy(m->padding[group], from + bytes - length, (uint8_t *)to + bytes,
                             n - bytes);
    return bytes ? source->read(source->user, at, to, bytes) : TAPER_OK;
}

/* Chunks of a layer follow one another to the end of the shard, or to one with other bytes behind
 * it. */
static uint32_t count_run(void *user, uint32_t layer, uint32_t group) {
    const codec_merged_chunks *c = user;
    const size_t s = shard_of(c->merge, group);
    const uint32_t left = c->merge->first[s].group + c->merge->front[s].groups - group;
    uint32_t n = 0;
    if (layer != c->cut_layer) return left;
    while (n < left && !is_padded(c, layer, group + n)) n++;
    return n ? n : 1;
}

static uint32_t find_checksum(void *user, uint32_t layer, uint32_t block) {
    const codec_merged_chunks *c = user;
    return c->sum[(size_t)layer * ((c->result->groups + c->per - 1) / c->per) + block];
}

/* The front matter is read again, which takes as much memory. The account stays as it is. */
static void drop_images(void *user) {
    formats_front *f = ((codec_merged_chunks *)user)->result;
    free(f->geometry), free(f->image_rate_class), free(f->image_at), free(f->place_of);
    free(f->label), free(f->names), free(f->name_at);
    f->geometry = NULL, f->image_rate_class = NULL, f->image_at = NULL, f->place_of = NULL;
    f->label = NULL, f->names = NULL, f->name_at = NULL;
}

taper_status codec_merge_check(const codec_merging *m, formats_front *result,
                               codec_merged_chunks *out, taper_error *error) {
    *out = (codec_merged_chunks){.merge = m,
                                 .result = result,
                                 .layers = result->layers,
                                 .per = result->chunks_per_checksum,
                                 .cut_layer = result->tail ? (int64_t)result->layers - 1 : -1};
    out->chunks = (codec_chunks){out, read_merged, count_run, find_checksum, drop_images};
    TAPER_TRY(formats_front_take(result, formats_front_checksums(result), sizeof *out->sum,
                                 &out->sum, error));
    passing *p = malloc(sizeof *p);
    if (!p) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read the containers");
    p->out = out;
    taper_status status = TAPER_OK;
    for (size_t s = 0; s < m->n && status == TAPER_OK; s++) {
        status = pass_shard(p, s, error);
        if (status != TAPER_OK && error) error->item = s + 1;
    }
    free(p);
    return status;
}

void codec_merged_chunks_free(codec_merged_chunks *c) {
    free(c->sum);
    *c = (codec_merged_chunks){.merge = NULL};
}
