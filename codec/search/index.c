/* index.c -- an open index, and search in it; see taper_index.h. */
#include "codec/search/index.h"
#include "codec/search/cascade_measure.h"
#include "formats/file.h"
#include "formats/sized.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

taper_status taper_index_check(const taper_index *index, taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
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

/* --- contents --------------------------------------------------------------------------- */

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
        .has_names = index->file.set.names != NULL,
        .has_labels = index->file.set.label != NULL,
        .memory = sizeof *index + index->file.set.account.used +
                  (index->sample.words ? sample_bytes(index) : 0),
    };
    info.other_bytes = formats_index_offset(h, FORMATS_INDEX_NAMES) - info.code_bytes;
    for (size_t l = 1; l < index->order.layers; l++)
        info.is_weighted |= index->cascade.weight[l] != index->cascade.weight[0];
    for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++)
        info.recall = fmax(info.recall, (double)index->recall[e]);
    return formats_sized_give(out, &info, sizeof info, "taper_index_info", error);
}

const char *taper_index_name(const taper_index *index, uint64_t i) {
    return index && i < index->order.n ? formats_front_name(&index->file.set, (uint32_t)i) : NULL;
}

int32_t taper_index_label(const taper_index *index, uint64_t i) {
    return index && index->file.set.label && i < index->order.n ? index->file.set.label[i] : -1;
}

const char *taper_index_class_name(const taper_index *index, uint32_t k) {
    return index && k < index->file.set.classes ? formats_front_class_name(&index->file.set, k)
                                                : NULL;
}

uint32_t taper_index_code(const taper_index *index, uint64_t place, uint64_t *code) {
    if (!index || !code || place >= index->order.n) return UINT32_MAX;
    codec_index_code(&index->order, (size_t)place, code);
    return index->cascade.image[place];
}

taper_status taper_index_image_code(const taper_index *index, uint64_t i, uint64_t *code,
                                    taper_error *error) {
    size_t place = 0;
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(code, "the code's place", error));
    if (i >= index->order.n)
        return formats_fail(error, TAPER_ERR_ARG, "no image %llu: the index has %zu",
                            (unsigned long long)i, index->order.n);
    while (place < index->order.n && index->cascade.image[place] != i) place++;
    if (place == index->order.n)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index has no code of its image %llu; make it again",
                            (unsigned long long)i);
    codec_index_code(&index->order, place, code);
    return TAPER_OK;
}

/* --- search ----------------------------------------------------------------------------- */

taper_status codec_index_pool(codec_pool **pool, unsigned threads, taper_error *error) {
    *pool = NULL;
    if (threads > 256)
        return formats_fail(error, TAPER_ERR_ARG, "%u threads: at most 256", threads);
    if (codec_pool_create(pool, threads ? threads : codec_pool_cores()))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for threads");
    return TAPER_OK;
}

taper_status taper_index_neighbourhood(const taper_index *index, const uint64_t *query,
                                       uint32_t known_bits, uint64_t least,
                                       taper_index_range *range, taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(query, "the query", error));
    TAPER_TRY(formats_need(range, "the range's place", error));
    if (known_bits > index->file.header.bits || least < 1 || least > index->order.n)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a neighbourhood of %llu images by %u bits: legal are 1 to %zu images "
                            "and at most %u bits",
                            (unsigned long long)least, known_bits, index->order.n,
                            index->file.header.bits);
    const codec_neighbourhood found =
        codec_index_neighbourhood(&index->order, query, (size_t)least, known_bits);
    if (found.size < least)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index's codes are not in order; make it again");
    const taper_index_range got = {.first = found.first,
                                   .count = found.size,
                                   .depth = (uint32_t)found.depth,
                                   .looked_at = found.looked_at};
    return formats_sized_give(range, &got, sizeof got, "taper_index_range", error);
}

/* The effort for this recall: the larger of that measured on the index's own images and that of a
 * normal distribution. The latter is for queries unlike these images, which have their own shares.
 */
static float effort_of(const taper_index *index, double recall) {
    if (recall >= 1) return CODEC_CASCADE_EXACT;
    return fmaxf(codec_cascade_effort_for(index->recall, recall),
                 codec_cascade_effort_for(codec_cascade_normal, recall));
}

static taper_status check_search(const taper_index *index, const taper_index_search *search,
                                 const uint32_t *images, const uint32_t *distances,
                                 taper_error *error) {
    if (search->k < 1 || search->k > index->order.n)
        return formats_fail(error, TAPER_ERR_ARG, "%zu neighbours: 1 to %zu are legal", search->k,
                            index->order.n);
    if (search->threads > 256)
        return formats_fail(error, TAPER_ERR_ARG, "%u threads: at most 256", search->threads);
    if (!(search->recall >= 0 && search->recall <= 1))
        return formats_fail(error, TAPER_ERR_ARG, "a recall of %g: it is 0 to 1", search->recall);
    TAPER_TRY(formats_need_array(search->queries, search->n_queries, 8 * index->order.words,
                                 "queries", error));
    TAPER_TRY(
        formats_need_array(images, search->n_queries, search->k * sizeof *images, "images", error));
    TAPER_TRY(
        formats_need_array(distances, search->n_queries, sizeof *distances, "distances", error));
    for (size_t i = 0; search->known_bits && i < search->n_queries; i++)
        if (search->known_bits[i] < 1 || search->known_bits[i] > index->file.header.bits)
            return formats_fail(error, TAPER_ERR_ARG,
                                "%u bits of query %zu are known: it is 1 to %u",
                                search->known_bits[i], i, index->file.header.bits);
    return TAPER_OK;
}

taper_status taper_index_nearest(const taper_index *index, const taper_index_search *given,
                                 uint32_t *images, uint32_t *distances, uint64_t *looked_at,
                                 taper_error *error) {
    taper_index_search own, *search = &own;
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(given, "the search", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_index_search", error));
    TAPER_TRY(check_search(index, search, images, distances, error));
    const double recall = search->recall > 0 ? search->recall : 0.95;
    const codec_cascade_query query = {
        .code = search->queries,
        .queries = search->n_queries,
        .k = search->k,
        .effort = effort_of(index, recall),
        .known_bits = search->known_bits,
        .whole_bits = index->file.header.bits,
        .within = search->within,
        .wanted = search->wanted,
    };
    codec_pool *pool = NULL;
    if (search->threads != 1 && search->n_queries > 1)
        TAPER_TRY(codec_index_pool(&pool, search->threads, error));
    taper_status status =
        codec_cascade_search(&index->cascade, &query, pool, images, distances, looked_at);
    codec_pool_destroy(pool);
    return status
               ? formats_fail(error, status, "no memory to search %zu queries", search->n_queries)
               : TAPER_OK;
}
