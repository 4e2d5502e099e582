/* models.c -- see models.h. */
#include "bench/retrieval/models.h"
#include "bench/figures/figures.h"
#include "codec/model/model.h"
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
    m->width = codec_window_values(whole);
    if (!path) return;
    load(m, path);
    m->width = m->model->info.units;
    figures_check(taper_embedder_new(&m->embedder, m->model, threads, &error), path, &error);
}

void retrieval_model_close(retrieval_model *m) {
    taper_embedder_free(m->embedder);
    taper_model_free(m->model);
}

void retrieval_model_codes(const retrieval_model *m, const retrieval_images *images, float *codes) {
    taper_error error = {0};
    for (size_t i = 0; i < images->n && !m->model; i++)
        codec_windows_read(whole, &images->image[i], codes + i * m->width);
    if (m->model)
        figures_check((m->keeps_margins ? taper_embedder_margins : taper_embedder_codes)(
                          m->embedder, images->image, images->n, codes, &error),
                      m->path, &error);
}

enum { BLOCK = 10000 }; /* images whose codes are numbers at a time */

static uint64_t *bits_of(const retrieval_model *m, const retrieval_images *images) {
    const size_t bits = m->width, words = codec_bits_words(bits);
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
    if (!m.model->info.binary) figures_die("%s: not a model of bits", path);
    *set = (retrieval_set){.kind = "real", .n = images->n, .queries = queries->n};
    set->bits = m.width;
    set->words = codec_bits_words(set->bits);
    set->codes = bits_of(&m, images);
    set->query = bits_of(&m, queries);
    retrieval_model_close(&m);
}
