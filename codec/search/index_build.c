/* index_build.c -- taper_index_build: codes are sorted, stored in layers, measured and written; see
 * taper_index.h. */
#include "codec/search/cascade_measure.h"
#include "codec/search/index.h"
#include "formats/sized.h"
#include <stdlib.h>
#include <string.h>

taper_status taper_index_pack(const float *codes, size_t n, size_t width, uint32_t bits,
                              uint64_t *words, taper_error *error) {
    if (bits > width)
        return formats_fail(error, TAPER_ERR_ARG, "%u bits of codes of %zu numbers", bits, width);
    TAPER_TRY(formats_need_array(codes, n ? width : 0, sizeof *codes, "codes", error));
    TAPER_TRY(formats_need_array(codes, n, width * sizeof *codes, "codes", error));
    TAPER_TRY(formats_need_array(words, n, codec_bits_words(bits) * sizeof *words, "words", error));
    codec_bits_pack(codes, n, width, bits, words);
    return TAPER_OK;
}

uint32_t taper_index_layers(uint32_t bits) {
    return (uint32_t)codec_index_layers(codec_bits_words(bits));
}

/* --- the order -------------------------------------------------------------------------- */

/* A code's first word, which is nearly always enough to compare, and its number. */
typedef struct sort_key {
    uint64_t first;
    uint32_t number;
} sort_key;

static int comes_first(const taper_index_set *set, size_t words, sort_key a, sort_key b) {
    if (a.first != b.first) return a.first < b.first;
    const int order =
        codec_bits_compare(set->codes + a.number * words, set->codes + b.number * words, words);
    return order ? order < 0 : a.number < b.number;
}

/* Bottom-up merge sort: runs of 1, 2, 4 .. keys from one array to the other. Returns the array with
 * the sorted keys. */
static sort_key *sort_keys(const taper_index_set *set, size_t words, sort_key *from, sort_key *to) {
    for (size_t run = 1; run < set->n; run *= 2) {
        for (size_t begin = 0; begin < set->n; begin += 2 * run) {
            const size_t middle = begin + run < set->n ? begin + run : set->n;
            const size_t end = middle + run < set->n ? middle + run : set->n;
            size_t a = begin, b = middle;
            for (size_t i = begin; i < end; i++) {
                const int left =
                    b == end || (a < middle && !comes_first(set, words, from[b], from[a]));
                to[i] = left ? from[a++] : from[b++];
            }
        }
        sort_key *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* Set image[n]: the numbers of codes, in sorted order. */
static taper_status sort_codes(const taper_index_set *set, size_t words, uint32_t *image) {
    sort_key *keys = malloc(2 * set->n * sizeof *keys);
    if (!keys) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < set->n; i++) keys[i] = (sort_key){set->codes[i * words], (uint32_t)i};
    const sort_key *sorted = sort_keys(set, words, keys, keys + set->n);
    for (size_t i = 0; i < set->n; i++) image[i] = sorted[i].number;
    free(keys);
    return TAPER_OK;
}

/* --- the arrays of an index ------------------------------------------------------------- */

typedef struct index_arrays {
    uint64_t *codes; /* in layers */
    uint32_t *image, *start;
    uint16_t *weight;
    float *share;
    float recall[FORMATS_INDEX_EFFORTS];
    codec_ordered_index order;
} index_arrays;

static void arrays_free(index_arrays *a) {
    free(a->codes);
    free(a->image);
    free(a->start);
    free(a->weight);
    free(a->share);
}

static taper_status arrays_take(index_arrays *a, const formats_index_header *h) {
    a->codes = malloc((size_t)formats_index_size(h, FORMATS_INDEX_CODES));
    a->image = malloc((size_t)formats_index_size(h, FORMATS_INDEX_IMAGE));
    a->start = malloc((size_t)formats_index_size(h, FORMATS_INDEX_START));
    a->weight = malloc((size_t)formats_index_size(h, FORMATS_INDEX_WEIGHTS));
    a->share = malloc((size_t)formats_index_size(h, FORMATS_INDEX_SHARES));
    return a->codes && a->image && a->start && a->weight && a->share ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void lay_codes(index_arrays *a, const taper_index_set *set) {
    uint64_t *to = a->codes;
    for (size_t l = 0; l < a->order.layers; l++) {
        const size_t first = codec_index_layer_first(l);
        const size_t width = codec_index_layer_words(a->order.words, l);
        for (size_t i = 0; i < set->n; i++, to += width)
            memcpy(to, set->codes + a->image[i] * a->order.words + first, width * sizeof *to);
    }
}

static taper_status arrays_fill(index_arrays *a, const taper_index_set *set,
                                const formats_index_header *h, codec_pool *pool) {
    TAPER_TRY(arrays_take(a, h));
    TAPER_TRY(sort_codes(set, formats_index_words(h), a->image));
    a->order = (codec_ordered_index){.n = set->n,
                                     .words = formats_index_words(h),
                                     .start = a->start,
                                     .table_bits = h->table_bits};
    codec_index_set_layers(&a->order, a->codes);
    lay_codes(a, set);
    codec_index_table(a->codes, set->n, h->table_bits, a->start);
    for (size_t l = 0; l < a->order.layers; l++) a->weight[l] = set->weights ? set->weights[l] : 1;
    const codec_cascade cascade = {&a->order, a->image, a->weight, NULL, NULL};
    return codec_cascade_measure(&cascade, pool, a->share, a->recall);
}

/* --- names and labels ------------------------------------------------------------------- */

/* Join `count` strings, each with its final 0; *at: their offsets. */
static taper_status join_strings(const char *const *string, size_t count, char **all,
                                 uint32_t **at) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += strlen(string[i]) + 1;
    *all = malloc(size + 1);
    *at = malloc((count + 1) * sizeof **at);
    if (size > UINT32_MAX) return TAPER_ERR_LIMIT;
    if (!*all || !*at) return TAPER_ERR_NOMEM;
    size = 0;
    for (size_t i = 0; i < count; i++) {
        (*at)[i] = (uint32_t)size;
        memcpy(*all + size, string[i], strlen(string[i]) + 1);
        size += strlen(string[i]) + 1;
    }
    return TAPER_OK;
}

/* The caller frees *front, also after a failure. */
static taper_status texts_of(const taper_index_set *set, formats_front *front) {
    *front = (formats_front){.images = (uint32_t)set->n, .classes = set->classes};
    if (set->names) TAPER_TRY(join_strings(set->names, set->n, &front->names, &front->name_at));
    if (!set->labels) return TAPER_OK;
    TAPER_TRY(
        join_strings(set->class_names, set->classes, &front->class_names, &front->class_name_at));
    front->label = malloc(set->n * sizeof *front->label);
    if (!front->label) return TAPER_ERR_NOMEM;
    memcpy(front->label, set->labels, set->n * sizeof *front->label);
    return TAPER_OK;
}

/* --- building --------------------------------------------------------------------------- */

static taper_status check_images(const taper_index_set *set, taper_error *error) {
    const size_t words = codec_bits_words(set->bits);
    const uint64_t beyond = set->bits % 64 ? ~(uint64_t)0 >> set->bits % 64 : 0;
    for (size_t i = 0; i < set->n; i++) {
        if (set->codes[(i + 1) * words - 1] & beyond)
            return formats_fail(error, TAPER_ERR_ARG, "code %zu has bits after its %u", i,
                                set->bits);
        if (set->labels && (set->labels[i] < -1 || set->labels[i] >= (int64_t)set->classes))
            return formats_fail(error, TAPER_ERR_ARG, "image %zu has label %d of %u classes", i,
                                (int)set->labels[i], set->classes);
        if (set->names && (!set->names[i] || !formats_name_is_legal(set->names[i])))
            return formats_fail(error, TAPER_ERR_ARG,
                                "the name of image %zu is not a plain relative path", i);
    }
    return TAPER_OK;
}

static taper_status check_set(const taper_index_set *set, taper_error *error) {
    if (set->n < 1 || set->n > UINT32_MAX || set->bits < 1 || set->bits > FORMATS_INDEX_MOST_BITS ||
        set->classes > FORMATS_MAX_CLASSES)
        return formats_fail(error, TAPER_ERR_ARG,
                            "an index of %zu codes of %u bits: it has 1 to 2^32 - 1, of 1 to %u",
                            set->n, set->bits, (unsigned)FORMATS_INDEX_MOST_BITS);
    TAPER_TRY(
        formats_need_array(set->codes, set->n, 8 * codec_bits_words(set->bits), "codes", error));
    for (uint32_t k = 0; set->labels && k < set->classes; k++)
        if (!set->class_names || !set->class_names[k])
            return formats_fail(error, TAPER_ERR_ARG, "class %u has no name", k);
    for (uint32_t l = 0; set->weights && l < taper_index_layers(set->bits); l++)
        if (!set->weights[l])
            return formats_fail(error, TAPER_ERR_ARG, "the weight of layer %u is 0", l);
    return check_images(set, error);
}

static taper_status write_all(const formats_index_header *h, const index_arrays *a,
                              const formats_buffer *names, const formats_buffer *labels,
                              const taper_part *part, const taper_sink *to) {
    formats_index_writer writer;
    formats_index_begin(&writer, h, part, to);
    formats_index_put(&writer, a->weight, formats_index_size(h, FORMATS_INDEX_WEIGHTS));
    formats_index_put(&writer, a->share, formats_index_size(h, FORMATS_INDEX_SHARES));
    formats_index_put(&writer, a->recall, formats_index_size(h, FORMATS_INDEX_RECALLS));
    formats_index_put(&writer, a->start, formats_index_size(h, FORMATS_INDEX_START));
    formats_index_put(&writer, a->codes, formats_index_size(h, FORMATS_INDEX_CODES));
    formats_index_put(&writer, a->image, formats_index_size(h, FORMATS_INDEX_IMAGE));
    formats_index_put(&writer, names->data, names->size);
    formats_index_put(&writer, labels->data, labels->size);
    return formats_index_end(&writer);
}

static taper_status build(const taper_index_set *set, const taper_part *part, codec_pool *pool,
                          const taper_sink *to, taper_error *error) {
    formats_index_header h = {.bits = set->bits,
                              .codes = set->n,
                              .model_id = set->model_id,
                              .table_bits = codec_index_table_bits(set->n)};
    index_arrays arrays = {0};
    formats_buffer names = {0}, labels = {0};
    formats_front texts;
    taper_status status = texts_of(set, &texts);
    if (!status) status = formats_index_texts(&texts, &h, &names, &labels, error);
    if (!status) status = arrays_fill(&arrays, set, &h, pool);
    if (status)
        status = formats_fail(error, status,
                              status == TAPER_ERR_LIMIT
                                  ? "the names of %zu images exceed the limit of an index, 4 GiB"
                                  : "no memory for an index of %zu codes",
                              set->n);
    else
        status = write_all(&h, &arrays, &names, &labels, part, to);
    arrays_free(&arrays);
    formats_buffer_free(&names);
    formats_buffer_free(&labels);
    formats_front_free(&texts);
    return status;
}

taper_status taper_index_build(const taper_index_set *given, unsigned threads, const taper_sink *to,
                               taper_error *error) {
    codec_pool *pool;
    taper_index_set own, *set = &own;
    taper_part part;
    TAPER_TRY(formats_need(given, "the set", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_index_set", error));
    TAPER_TRY(check_set(set, error));
    TAPER_TRY(codec_index_take_part(&part, set->part, set->n, error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(codec_index_pool(&pool, threads, error));
    const taper_status status = build(set, &part, pool, to, error);
    codec_pool_destroy(pool);
    return status;
}
