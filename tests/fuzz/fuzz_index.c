/* fuzz_index.c -- any bytes as an index file, behind a byte that says how they are used. Bit 0: all
 * checksums are made to hold, so that what lies behind them is reached. What opens must answer
 * within its numbers, whatever its codes, table and images are; what is sound, too, must find what
 * the definition finds, and be the same when it is joined with nothing. Bit 4: the bytes are no
 * file but changes of one that is made here, of 16,400 codes, so that a small input reaches what
 * only large indexes have: the search that is not exact. A byte says of how many bits; then come
 * changes, of a place, three bytes, and what is put there. Bit 5: two threads search. */
#include "codec/search/index.h"
#include "tests/infos.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum {
    MOST_CODES = 16400 /* more than 16,384 */,
    MOST_WORDS = 1024,
    QUERIES = 3,
    MOST_K = 12,
    LOOKED_AT = 200 /* images and places */
};

static void must(int holds) {
    if (!holds) abort();
}

static taper_status append(void *buffer, const void *bytes, size_t n) {
    return formats_write_bytes(buffer, bytes, n);
}

/* --- checksums -------------------------------------------------------------------------- */

/* Of the header; of the parts and the end if the file is as long as the header says. */
static void mend(uint8_t *bytes, size_t n) {
    if (n < FORMATS_INDEX_HEADER) return;
    formats_set_u32le(bytes + 12, 0);
    formats_set_u32le(bytes + 12, formats_crc32c(0, bytes, FORMATS_INDEX_HEADER));
    const formats_index_header h = {formats_get_u32le(bytes + 16), formats_get_u32le(bytes + 20),
                                    formats_get_u64le(bytes + 24), formats_get_u64le(bytes + 32),
                                    formats_get_u64le(bytes + 40), formats_get_u64le(bytes + 48)};
    if (!h.bits || h.bits > FORMATS_INDEX_MOST_BITS || h.codes > n ||
        h.table_bits > FORMATS_INDEX_MOST_TABLE_BITS || h.names_size > n || h.labels_size > n ||
        formats_index_file_size(&h) != n)
        return;
    uint8_t *sums = bytes + formats_index_offset(&h, FORMATS_INDEX_PARTS);
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++)
        formats_set_u32le(sums + 4 * part, formats_crc32c(0, bytes + formats_index_offset(&h, part),
                                                          (size_t)formats_index_size(&h, part)));
    formats_set_u32le(sums + 4 * FORMATS_INDEX_PARTS,
                      formats_crc32c(0, sums, 4 * FORMATS_INDEX_PARTS));
}

/* --- what is made ------------------------------------------------------------------------ */

/* Codes around some hundred centres, in which the first bits differ least, as of images. */
static uint64_t *draw_codes(size_t n, uint32_t bits, uint64_t seed) {
    const size_t words = (bits + 63) / 64;
    uint64_t *codes = malloc(n * words * sizeof *codes);
    must(codes != NULL);
    for (size_t i = 0; i < n * words; i++) {
        const uint64_t centre = (i / words % 100 + 1) * 0x9e3779b97f4a7c15u * (i % words + 1);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        codes[i] = centre ^ (seed & seed << 7 & seed >> 9);
    }
    for (size_t i = words; bits % 64 && i <= n * words; i += words)
        codes[i - 1] &= ~(uint64_t)0 << (64 - bits % 64);
    return codes;
}

/* An index of codes of so many bits, made once. */
static const formats_buffer *drawn_index(size_t kind) {
    static const uint32_t bits[] = {64, 100, 140};
    static formats_buffer made[3];
    formats_buffer *out = &made[kind % 3];
    if (out->size) return out;
    *out = formats_buffer_make(1 << 24);
    uint64_t *code = draw_codes(MOST_CODES, bits[kind % 3], kind);
    const taper_index_set set = {.size = sizeof(taper_index_set),
                                 .codes = code,
                                 .n = MOST_CODES,
                                 .bits = bits[kind % 3],
                                 .model_id = 1};
    const taper_sink sink = {out, append};
    must(!taper_index_build(&set, 1, &sink, NULL));
    free(code);
    return out;
}

/* A small one of another model, opened once. */
static const taper_index *other_index(void) {
    static taper_index *index;
    static formats_buffer file;
    uint64_t code[] = {1, 2, 3};
    const taper_index_set set = {
        .size = sizeof(taper_index_set), .codes = code, .n = 3, .bits = 64, .model_id = 77};
    const taper_sink sink = {&file, append};
    if (index) return index;
    file = formats_buffer_make(1 << 16);
    must(!taper_index_build(&set, 1, &sink, NULL));
    must(!taper_index_open(&index, file.data, file.size, NULL, NULL));
    return index;
}

/* --- what opens ------------------------------------------------------------------------- */

static void look_around(const taper_index *index, const taper_index_info *info) {
    uint64_t code[MOST_WORDS];
    for (uint64_t i = 0; i < info->images; i += 1 + info->images / LOOKED_AT) {
        const char *name = taper_index_name(index, i);
        must(info->has_names ? name && formats_name_is_legal(name) : !name);
        const int32_t label = taper_index_label(index, i);
        must(label >= -1 && label < (int32_t)info->classes);
        must(taper_index_code(index, i, code) < info->images);
        const taper_status status = taper_index_image_code(index, i, code, NULL);
        must(status == TAPER_OK || status == TAPER_ERR_CORRUPT);
    }
    for (uint32_t k = 0; k < info->classes; k++) must(taper_index_class_name(index, k) != NULL);
    must(!taper_index_class_name(index, info->classes) && !taper_index_name(index, info->images));
}

static void try_neighbourhoods(const taper_index *index, const taper_index_info *info,
                               const uint64_t *query, uint32_t known, int is_sound) {
    const uint64_t step = info->images > 2000 ? 9 : 1; /* the definition reads all codes */
    for (uint64_t least = 1; least <= info->images; least += 1 + step * least / 2) {
        taper_index_range r = {.size = sizeof(taper_index_range)};
        const taper_status status = taper_index_neighbourhood(index, query, known, least, &r, NULL);
        must(!status || (!is_sound && status == TAPER_ERR_CORRUPT));
        if (status) continue;
        must(r.first <= info->images && r.count <= info->images - r.first && r.depth <= known);
        must(r.count >= least);
        must(r.looked_at < 200);
        if (!is_sound) continue;
        const codec_neighbourhood want =
            codec_index_neighbourhood_plain(&index->order, query, (size_t)least, known);
        must(r.first == want.first && r.count == want.size && r.depth == want.depth);
    }
}

static void compare_exact(const taper_index *index, const taper_index_search *s,
                          const uint32_t *image, const uint32_t *distance) {
    uint32_t images[QUERIES * MOST_K], distances[QUERIES * MOST_K];
    const codec_cascade_query q = {.code = s->queries,
                                   .queries = s->n_queries,
                                   .k = s->k,
                                   .effort = CODEC_CASCADE_EXACT,
                                   .known_bits = s->known_bits,
                                   .whole_bits = index->file.header.bits,
                                   .within = s->within,
                                   .wanted = s->wanted};
    must(!codec_cascade_plain(&index->cascade, &q, images, distances));
    must(!memcmp(image, images, QUERIES * s->k * sizeof *image));
    must(!memcmp(distance, distances, QUERIES * s->k * sizeof *distance));
}

/* By margins that differ: the same images, in some order. */
static void try_ranks(const taper_index *index, const taper_index_search *s,
                      const taper_index_info *info, uint32_t *image, uint32_t *distance) {
    const size_t n = (size_t)QUERIES * info->bits;
    float *margins = malloc(n * sizeof *margins);
    must(margins != NULL);
    for (size_t i = 0; i < n; i++) margins[i] = (float)(i % 7) - 2;
    const taper_index_ranking ranking = {sizeof(taper_index_ranking), s->queries, margins, QUERIES,
                                         s->k};
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < QUERIES * s->k; i++) before += image[i];
    must(!taper_index_rank(index, &ranking, image, distance, NULL));
    for (size_t i = 0; i < QUERIES * s->k; i++) after += image[i];
    must(before == after);
    free(margins);
}

static void try_nearest(const taper_index *index, const taper_index_search *search,
                        const taper_index_info *info) {
    static const double recalls[] = {1, 0.9, 0.1};
    uint32_t image[QUERIES * MOST_K], distance[QUERIES * MOST_K];
    for (int r = 0; r < 3; r++) {
        taper_index_search s = *search;
        s.recall = recalls[r];
        must(!taper_index_nearest(index, &s, image, distance, NULL, NULL));
        for (size_t i = 0; i < QUERIES * s.k; i++) {
            must(image[i] < info->images || (image[i] == UINT32_MAX && distance[i] == UINT32_MAX));
            must(!(i % s.k) || distance[i - 1] <= distance[i]);
            must(image[i] == UINT32_MAX || !s.within || distance[i] <= *s.within);
            must(image[i] == UINT32_MAX || !s.wanted || s.wanted[image[i]]);
        }
        if (!r) compare_exact(index, &s, image, distance);
        try_ranks(index, &s, info, image, distance);
    }
}

static void search(const taper_index *index, const taper_index_info *info, uint8_t how,
                   int is_sound) {
    const size_t words = (info->bits + 63) / 64;
    uint64_t query[QUERIES * MOST_WORDS];
    uint32_t known[QUERIES], within = info->bits / 2;
    uint8_t wanted[MOST_CODES];
    for (size_t i = 0; i < QUERIES; i++) { /* a member, one near it, one far from it */
        taper_index_code(index, (how * 7u + i) % info->images, query + i * words);
        if (i) query[i * words] ^= (uint64_t)how << (i == 1 ? 56 : 30);
        if (i == 2) query[i * words] = ~query[i * words];
        known[i] = 1 + (how * 5u + (uint32_t)i * 77) % info->bits;
        try_neighbourhoods(index, info, query + i * words, known[i], is_sound);
        try_neighbourhoods(index, info, query + i * words, info->bits, is_sound);
    }
    for (size_t i = 0; i < info->images; i++) wanted[i] = i % 3 != how % 3;
    const taper_index_search s = {.size = sizeof(taper_index_search),
                                  .queries = query,
                                  .n_queries = QUERIES,
                                  .k = info->images < MOST_K ? (size_t)info->images : MOST_K,
                                  .known_bits = how & 2 ? known : NULL,
                                  .within = how & 4 ? &within : NULL,
                                  .wanted = how & 8 ? wanted : NULL,
                                  .threads = how & 32 ? 2 : 1};
    try_nearest(index, &s, info);
}

/* What no index can answer is refused: numbers that are out of its range. */
static void refuse(const taper_index *index, const taper_index_info *info) {
    uint64_t query[MOST_WORDS] = {0};
    uint32_t known = info->bits + 1, image = (uint32_t)info->images, distance;
    taper_index_range range = {.size = sizeof(taper_index_range)};
    taper_index_search s = {.size = sizeof(taper_index_search),
                            .queries = query,
                            .n_queries = 1,
                            .k = (size_t)info->images + 1};
    const taper_index *const two[] = {index, other_index()};
    const taper_sink sink = {NULL, append};
    must(taper_index_nearest(index, &s, &image, &distance, NULL, NULL) == TAPER_ERR_ARG);
    s.k = 1, s.threads = 257;
    must(taper_index_nearest(index, &s, &image, &distance, NULL, NULL) == TAPER_ERR_ARG);
    s.threads = 1, s.recall = 2;
    must(taper_index_nearest(index, &s, &image, &distance, NULL, NULL) == TAPER_ERR_ARG);
    s.recall = 1, s.known_bits = &known;
    must(taper_index_nearest(index, &s, &image, &distance, NULL, NULL) == TAPER_ERR_ARG);
    must(taper_index_neighbourhood(index, query, known, 1, &range, NULL) == TAPER_ERR_ARG);
    must(taper_index_image_code(index, info->images, query, NULL) == TAPER_ERR_ARG);
    must(taper_index_merge(&index, 0, &sink, NULL) == TAPER_ERR_ARG);
    if (info->model_id != 77) must(taper_index_merge(two, 2, &sink, NULL) == TAPER_ERR_ARG);
    float margins[64 * MOST_WORDS] = {0};
    const taper_index_ranking ranking = {sizeof(taper_index_ranking), query, margins, 1, 1};
    image = (uint32_t)info->images;
    must(taper_index_rank(index, &ranking, &image, &distance, NULL) == TAPER_ERR_ARG);
    margins[info->bits - 1] = NAN;
    must(taper_index_rank(index, &ranking, &image, &distance, NULL) == TAPER_ERR_ARG);
}

/* Joined with nothing it is what it was, if it was sound, and opens in any case; with itself it
 * opens. Names of images that have clashed take more, but are bounded. */
static void join(const taper_index *index, const taper_index_info *info, int is_sound) {
    for (size_t n = 1; n <= 2; n++) {
        const taper_index *const from[] = {index, index};
        formats_buffer out = formats_buffer_make(1 << 24);
        const taper_sink sink = {&out, append};
        taper_index *joined;
        must(!taper_index_merge(from, n, &sink, NULL));
        must(!taper_index_open(&joined, out.data, out.size, NULL, NULL));
        must(info_of_index(joined).images == n * info->images);
        must(!is_sound || !taper_index_check(joined, NULL));
        taper_index_close(joined);
        formats_buffer_free(&out);
    }
}

/* --- one input --------------------------------------------------------------------------- */

/* It, with the changes that the bytes ask for; malloc'd. *size: its bytes. */
static uint8_t *make_file(const uint8_t *bytes, size_t n, size_t *size) {
    enum { CHANGE = 4 };
    const formats_buffer *whole = drawn_index(n ? bytes[0] : 0);
    uint8_t *file = malloc(whole->size);
    must(file != NULL);
    memcpy(file, whole->data, whole->size);
    for (size_t i = 1; i + CHANGE <= n; i += CHANGE) {
        const size_t place = bytes[i] | (size_t)bytes[i + 1] << 8 | (size_t)bytes[i + 2] << 16;
        file[place % whole->size] = bytes[i + 3];
    }
    *size = whole->size;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_images = MOST_CODES, .max_memory = 1 << 22};
    if (n < 1) return 0;
    const uint8_t how = bytes[0];
    size_t size = n - 1;
    uint8_t *file; /* on a multiple of 8, as the input's second byte is not */
    if (how & 16) {
        file = make_file(bytes + 1, n - 1, &size);
    } else {
        file = malloc(n);
        must(file != NULL);
        memcpy(file, bytes + 1, n - 1);
    }
    if (how & 1) mend(file, size);
    taper_index *index;
    taper_error error = {0};
    const taper_status status = taper_index_open(&index, file, size, &limits, &error);
    must(status == error.status && (status == TAPER_OK) == (index != NULL));
    if (index) {
        const taper_index_info info = info_of_index(index);
        const int is_sound = !taper_index_check(index, NULL);
        must(info.images <= MOST_CODES && info.recall >= 0 && info.recall <= 1);
        look_around(index, &info);
        search(index, &info, how, is_sound);
        refuse(index, &info);
        join(index, &info, is_sound);
    }
    taper_index_close(index);
    free(file);
    return 0;
}
