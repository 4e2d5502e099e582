/* models.c -- see models.h. */
#include "bench/retrieval/models.h"
#include "bench/figures/figures.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <stdlib.h>

static const codec_window whole = {RETRIEVAL_SIDE, RETRIEVAL_SIDE, 3, NULL};

static void load(retrieval_model *m, const char *path) {
    taper_error error = {0};
    uint8_t *bytes;
    size_t size;
    figures_check(formats_file_read(path, FORMATS_MOST_BYTES, &bytes, &size, &error), path, &error);
    figures_check(taper_model_load(&m->model, bytes, size, NULL, &error), path, &error);
    free(bytes);
}

void retrieval_model_open(retrieval_model *m, const char *path, unsigned threads) {
    taper_error error = {0};
    *m = (retrieval_model){.path = path ? path : "pixels"};
    if (!path) {
        figures_check(codec_embedder_open_pixels(&m->embedder, whole, threads, &error), "pixels",
                      &error);
        return;
    }
    load(m, path);
    figures_check(codec_embedder_open(&m->embedder, m->model, threads, &error), path, &error);
}

void retrieval_model_close(retrieval_model *m) {
    codec_embedder_close(&m->embedder);
    taper_model_free(m->model);
}

void retrieval_model_codes(const retrieval_model *m, const retrieval_images *images, float *codes) {
    taper_error error = {0};
    figures_check(codec_embedder_check(&m->embedder, &images->image[0], &error), m->path, &error);
    figures_check(codec_embedder_codes(&m->embedder, images->image, images->n, codes, &error),
                  m->path, &error);
}

enum { BLOCK = 10000 }; /* images whose codes are numbers at a time */

static uint64_t *bits_of(const retrieval_model *m, const retrieval_images *images) {
    const size_t bits = m->embedder.width, words = codec_bits_words(bits);
    float *code = figures_memory(formats_smaller(BLOCK, images->n), bits * sizeof *code);
    uint64_t *rows = figures_memory(images->n, words * sizeof *rows);
    for (size_t first = 0; first < images->n; first += BLOCK) {
        const retrieval_images block = {.n = formats_smaller(BLOCK, images->n - first),
                                        .image = images->image + first};
        retrieval_model_codes(m, &block, code);
        codec_bits_pack(code, block.n, bits, bits, rows + first * words);
    }
    free(code);
    return rows;
}

void retrieval_model_set(const char *path, const retrieval_images *images,
                         const retrieval_images *queries, unsigned threads, retrieval_set *set) {
    retrieval_model m;
    retrieval_model_open(&m, path, threads);
    if (!m.embedder.is_binary) figures_die("%s: not a model of bits", path);
    *set = (retrieval_set){.kind = "real", .n = images->n, .queries = queries->n};
    set->bits = m.embedder.width;
    set->words = codec_bits_words(set->bits);
    set->codes = bits_of(&m, images);
    set->query = bits_of(&m, queries);
    retrieval_model_close(&m);
}
