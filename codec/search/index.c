/* index.c -- an open index, and its contents; see taper_index.h. */
#include "codec/search/index.h"
#include "formats/file.h"
#include "formats/set_part.h"
#include "formats/sized.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- parts ------------------------------------------------------------------------------ */

static size_t part_of(const codec_index_join *join, uint64_t i) {
    size_t low = 0, high = join->parts; /* first[low] <= i < first[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (join->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const taper_index *codec_index_part(const taper_index *index, uint64_t *i) {
    if (!index->join) return index;
    const size_t p = part_of(index->join, *i);
    *i -= index->join->first[p];
    return index->join->part[p];
}

uint32_t codec_index_image_at(const taper_index *index, size_t place) {
    if (!index->join) return index->cascade.image[place];
    const size_t p = part_of(index->join, place);
    const uint64_t first = index->join->first[p];
    return (uint32_t)first + index->join->part[p]->cascade.image[place - first];
}

uint32_t codec_index_at(const taper_index *index, size_t place, uint64_t *code) {
    uint64_t own = place;
    const taper_index *part = codec_index_part(index, &own);
    codec_index_code(&part->order, (size_t)own, code);
    return (uint32_t)(place - own) + part->cascade.image[own];
}

void codec_index_join_free(codec_index_join *join) {
    if (!join) return;
    pthread_mutex_destroy(&join->lock);
    free(join->part), free(join->first), free(join->order);
    free(join);
}

/* --- opening ---------------------------------------------------------------------------- */

static void set_views(taper_index *index) {
    const formats_index_file *file = &index->file;
    index->order = (codec_ordered_index){
        .n = (size_t)file->header.codes,
        .words = formats_index_words(&file->header),
        .start = formats_index_part_at(file, FORMATS_INDEX_START),
        .table_bits = file->header.table_bits,
    };
    codec_index_set_layers(&index->order, formats_index_part_at(file, FORMATS_INDEX_CODES));
    index->cascade =
        (codec_cascade){&index->order, formats_index_part_at(file, FORMATS_INDEX_IMAGE),
                        formats_index_part_at(file, FORMATS_INDEX_WEIGHTS),
                        formats_index_part_at(file, FORMATS_INDEX_SHARES), NULL};
    index->recall = formats_index_part_at(file, FORMATS_INDEX_RECALLS);
}

static uint64_t sample_bytes(const taper_index *index) {
    return CODEC_CASCADE_SAMPLE * (8 * (uint64_t)index->order.words + 4);
}

taper_status taper_index_open(taper_index **out, const void *bytes, uint64_t size,
                              const taper_limits *limits, taper_error *error) {
    taper_limits checked;
    TAPER_TRY(formats_need(out, "the index's place", error));
    *out = NULL;
    TAPER_TRY(formats_limits_take(&checked, limits, error));
    taper_index *index = calloc(1, sizeof *index);
    if (!index) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open an index");
    taper_status status = formats_index_open(&index->file, bytes, size, &checked, error);
    if (status) {
        free(index);
        return status;
    }
    set_views(index);
    /* without a sample, searches are exact and slower */
    if (sample_bytes(index) <= formats_account_left(&index->file.set.account))
        status = codec_cascade_sample_take(&index->sample, &index->cascade);
    if (status) {
        taper_index_close(index);
        return formats_fail(error, status, "no memory to open an index");
    }
    *out = index;
    return TAPER_OK;
}

taper_status taper_index_open_file(taper_index **out, const char *path, const taper_limits *limits,
                                   taper_error *error) {
    const void *bytes;
    uint64_t size;
    TAPER_TRY(formats_need(out, "the index's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(path, "the path", error));
    TAPER_TRY(formats_file_map(path, &bytes, &size, error));
    const taper_status status = taper_index_open(out, bytes, size, limits, error);
    if (status == TAPER_OK)
        (*out)->mapped = bytes, (*out)->mapped_size = size;
    else
        formats_file_unmap(bytes, size);
    return status;
}

void taper_index_close(taper_index *index) {
    if (!index) return;
    codec_index_join_free(index->join);
    formats_index_close(&index->file);
    formats_file_unmap(index->mapped, index->mapped_size);
    codec_cascade_sample_free(&index->sample);
    free(index);
}

/* The error of the code at a place, or NULL. before: the previous code; seen[n]: images that have a
 * code already. */
static const char *fault_of(const taper_index *index, size_t place, const uint64_t *before,
                            const uint64_t *code, uint8_t *seen) {
    const size_t words = index->order.words;
    const uint32_t bits = index->file.header.bits, *image = index->cascade.image;
    const int order = place ? codec_bits_compare(before, code, words) : -1;
    if (order > 0 || (!order && image[place] < image[place - 1])) return "codes are not in order";
    if (bits % 64 && code[words - 1] << bits % 64) return "a code has bits after its last";
    if (seen[image[place]]) return "an image has two codes";
    seen[image[place]] = 1;
    return NULL;
}

static const char *find_fault(const taper_index *index, uint64_t *code, uint8_t *seen,
                              uint32_t *start) {
    const codec_ordered_index *order = &index->order;
    const size_t entries = ((size_t)1 << order->table_bits) + 1;
    const char *fault = NULL;
    uint64_t *now = code, *before = code + order->words;
    for (size_t i = 0; i < order->n && !fault; i++) {
        codec_index_code(order, i, now);
        fault = fault_of(index, i, before, now, seen);
        uint64_t *other = before;
        before = now;
        now = other;
    }
    if (fault) return fault;
    codec_index_table(order->layer[0], order->n, order->table_bits, start);
    return memcmp(start, order->start, entries * sizeof *start) ? "table is not of its codes"
                                                                : NULL;
}

static taper_status check_codes(const taper_index *index, taper_error *error) {
    TAPER_TRY(formats_index_check_codes(&index->file, error));
    uint64_t *code = malloc(2 * index->order.words * sizeof *code);
    uint8_t *seen = calloc(index->order.n, 1);
    uint32_t *start = malloc((((size_t)1 << index->order.table_bits) + 1) * sizeof *start);
    const bool has_memory = code && seen && start;
    const char *fault = has_memory ? find_fault(index, code, seen, start) : NULL;
    free(code);
    free(seen);
    free(start);
    if (!has_memory) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to check an index");
    if (!fault) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "the index's %s; make it again", fault);
}

taper_status taper_index_check(const taper_index *index, taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
    if (!index->join) return check_codes(index, error);
    for (size_t p = 0; p < index->join->parts; p++)
        TAPER_TRY(check_codes(index->join->part[p], error));
    return TAPER_OK;
}

/* --- contents --------------------------------------------------------------------------- */

static int has_names(const taper_index *index) {
    if (!index->join) return index->file.set.names != NULL;
    for (size_t p = 0; p < index->join->parts; p++)
        if (index->join->part[p]->file.set.names) return 1;
    return 0;
}

/* Memory that no account has. */
static uint64_t other_memory(const taper_index *index) {
    if (index->sample.words) return sample_bytes(index);
    return index->join ? sizeof *index->join + 16 * (uint64_t)index->join->parts : 0;
}

taper_status taper_index_get_info(const taper_index *index, taper_index_info *out,
                                  taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
    const formats_index_header *h = &index->file.header;
    taper_index_info info = {
        .images = h->codes,
        .model_id = h->model_id,
        .bits = h->bits,
        .classes = index->file.set.classes,
        .code_bytes = formats_index_size(h, FORMATS_INDEX_CODES),
        .name_bytes = h->names_size,
        .has_names = has_names(index),
        .has_labels = index->file.set.label != NULL,
        .memory = sizeof *index + index->file.set.account.used + other_memory(index),
    };
    info.other_bytes = formats_index_offset(h, FORMATS_INDEX_NAMES) - info.code_bytes;
    for (size_t l = 1; l < index->order.layers; l++)
        info.is_weighted |= index->cascade.weight[l] != index->cascade.weight[0];
    for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++)
        info.recall = fmax(info.recall, (double)index->recall[e]);
    return formats_sized_give(out, &info, sizeof info, "taper_index_info", error);
}

const char *taper_index_name(const taper_index *index, uint64_t i) {
    if (!index || i >= index->order.n) return NULL;
    const taper_index *part = codec_index_part(index, &i);
    return formats_front_name(&part->file.set, (uint32_t)i);
}

int32_t taper_index_label(const taper_index *index, uint64_t i) {
    return index && index->file.set.label && i < index->order.n ? index->file.set.label[i] : -1;
}

const char *taper_index_class_name(const taper_index *index, uint32_t k) {
    return index && k < index->file.set.classes ? formats_front_class_name(&index->file.set, k)
                                                : NULL;
}

taper_status taper_index_image_code(const taper_index *index, uint64_t i, uint64_t *code,
                                    taper_error *error) {
    size_t place = 0;
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(code, "the code's place", error));
    if (i >= index->order.n)
        return formats_fail(error, TAPER_ERR_ARG, "no image %llu: the index has %zu",
                            (unsigned long long)i, index->order.n);
    index = codec_index_part(index, &i);
    while (place < index->order.n && index->cascade.image[place] != i) place++;
    if (place == index->order.n)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index has no code of its image %llu; make it again",
                            (unsigned long long)i);
    codec_index_code(&index->order, place, code);
    return TAPER_OK;
}

/* --- the part of a set ------------------------------------------------------------------ */

taper_status taper_index_get_part(const taper_index *index, taper_part *out, taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
    return formats_sized_give(out, &index->file.part, sizeof index->file.part, "taper_part", error);
}

taper_status codec_index_take_part(taper_part *part, const taper_part *given, uint64_t images,
                                   taper_error *error) {
    *part = (taper_part){0};
    if (!given) return TAPER_OK;
    TAPER_TRY(formats_sized_take(part, sizeof *part, given, "taper_part", error));
    if (formats_set_part_is_legal(part, images)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "part %u of %u of %llu images: an index of %llu images, and %llu left out, "
                        "is no such part",
                        part->part, part->parts, (unsigned long long)part->images,
                        (unsigned long long)images, (unsigned long long)part->left_out);
}

/* --- several indexes -------------------------------------------------------------------- */

static taper_status check_match(const taper_index *a, const taper_index *b, size_t number,
                                taper_error *error) {
    const formats_index_header *x = &a->file.header, *y = &b->file.header;
    if (b->join)
        return formats_fail(error, TAPER_ERR_ARG,
                            "index %zu is joined of others: give its parts instead", number);
    if (y->bits != x->bits || y->model_id != x->model_id)
        return formats_fail(error, TAPER_ERR_ARG,
                            "index %zu is of %u bits of model %016llx, the first of %u bits of "
                            "%016llx: only indexes of one model and code length can be joined",
                            number, y->bits, (unsigned long long)y->model_id, x->bits,
                            (unsigned long long)x->model_id);
    if (memcmp(a->cascade.weight, b->cascade.weight,
               (size_t)formats_index_size(x, FORMATS_INDEX_WEIGHTS)) != 0)
        return formats_fail(error, TAPER_ERR_ARG,
                            "index %zu has other weights than the first; make it again", number);
    return TAPER_OK;
}

taper_status codec_index_match(const taper_index *const *from, size_t n, uint64_t *codes,
                               taper_error *error) {
    *codes = 0;
    if (!n || n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu indexes to be joined: give at least 1, at most 2^32 - 1", n);
    for (size_t s = 0; s < n; s++) {
        TAPER_TRY(formats_need(from[s], "an index", error));
        TAPER_TRY(check_match(from[0], from[s], s + 1, error));
        *codes += from[s]->file.header.codes;
    }
    if (*codes > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "%llu codes: an index has at most 2^32 - 1",
                            (unsigned long long)*codes);
    return TAPER_OK;
}

/* --- threads ---------------------------------------------------------------------------- */

taper_status codec_index_pool(codec_pool **pool, unsigned threads, taper_error *error) {
    *pool = NULL;
    if (threads > 256)
        return formats_fail(error, TAPER_ERR_ARG, "%u threads: at most 256", threads);
    if (codec_pool_create(pool, threads ? threads : codec_pool_cores()))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for threads");
    return TAPER_OK;
}
