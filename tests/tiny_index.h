/* tiny_index.h -- random sets of codes with names and labels, and indexes of them in memory.
 * Include after cmocka.h. */
#ifndef TESTS_TINY_INDEX_H
#define TESTS_TINY_INDEX_H
#include "codec/search/index.h"
#include "random_bits.h"

enum { TINY_NAMES = 1, TINY_LABELS = 2, TINY_WEIGHTS = 4, TINY_ALL = 7, TINY_NAME = 32 };

typedef struct tiny_set {
    taper_index_set set;
    uint64_t *codes;
    char (*text)[TINY_NAME];
    const char **names;
    int32_t *labels;
    uint16_t weights[CODEC_INDEX_MOST_LAYERS];
} tiny_set;

static const char *const tiny_classes[] = {"cat", "", "dog"};

/* A set with codes of a kind of random_bits.h; names begin with `folder`. */
static inline void tiny_draw(tiny_set *t, int kind, size_t n, uint32_t bits, int has,
                             const char *folder) {
    *t = (tiny_set){.codes = bits_draw(kind, n, bits),
                    .text = malloc(n * sizeof *t->text),
                    .names = malloc(n * sizeof *t->names),
                    .labels = malloc(n * sizeof *t->labels)};
    assert_true(t->text && t->names && t->labels);
    for (size_t i = 0; i < n; i++) {
        snprintf(t->text[i], TINY_NAME, "%s/%zu.png", folder, i);
        t->names[i] = t->text[i];
        t->labels[i] = (int32_t)bits_below(4) - 1;
    }
    for (int l = 0; l < CODEC_INDEX_MOST_LAYERS; l++) t->weights[l] = (uint16_t)(65535 >> l);
    t->set = (taper_index_set){.size = sizeof(taper_index_set),
                               .codes = t->codes,
                               .n = n,
                               .bits = bits,
                               .model_id = 0xFEDCBA9876543210u,
                               .weights = has & TINY_WEIGHTS ? t->weights : NULL,
                               .names = has & TINY_NAMES ? t->names : NULL,
                               .labels = has & TINY_LABELS ? t->labels : NULL,
                               .class_names = tiny_classes,
                               .classes = 3};
}

static inline void tiny_drop(tiny_set *t) {
    free(t->codes), free(t->text), free(t->names), free(t->labels);
}

/* A subset, images first .. first + n - 1; borrowed. */
static inline taper_index_set tiny_part(const taper_index_set *set, size_t first, size_t n) {
    taper_index_set part = *set;
    part.n = n;
    part.codes += first * codec_bits_words(set->bits);
    if (part.names) part.names += first;
    if (part.labels) part.labels += first;
    return part;
}

/* --- in memory -------------------------------------------------------------------------- */

static inline taper_status tiny_append(void *buffer, const void *bytes, size_t n) {
    return formats_write_bytes(buffer, bytes, n);
}
static inline taper_sink tiny_sink(formats_buffer *bytes) {
    return (taper_sink){bytes, tiny_append};
}

static inline formats_buffer tiny_build(const taper_index_set *set, unsigned threads) {
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&bytes);
    taper_error error = {0};
    if (taper_index_build(set, threads, &sink, &error)) fail_msg("%s", error.text);
    return bytes;
}

static inline taper_index *tiny_open(const formats_buffer *bytes) {
    taper_index *index;
    taper_error error = {0};
    if (taper_index_open(&index, bytes->data, bytes->size, NULL, &error))
        fail_msg("%s", error.text);
    return index;
}

/* Recompute all checksums. */
static inline void tiny_mend(uint8_t *bytes, const formats_index_header *h) {
    uint8_t *sums = bytes + formats_index_offset(h, FORMATS_INDEX_PARTS);
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++)
        formats_set_u32le(sums + 4 * part, formats_crc32c(0, bytes + formats_index_offset(h, part),
                                                          (size_t)formats_index_size(h, part)));
    formats_set_u32le(sums + 4 * FORMATS_INDEX_PARTS,
                      formats_crc32c(0, sums, 4 * FORMATS_INDEX_PARTS));
}
static inline void tiny_mend_header(uint8_t *bytes) {
    formats_set_u32le(bytes + 12, 0);
    formats_set_u32le(bytes + 12, formats_crc32c(0, bytes, FORMATS_INDEX_HEADER));
}

#endif
