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
    *m = (retrieval_model){.model = NULL};
    if (!path) {
        figures_check(codec_embedder_open_pixels(&m->embedder, whole, threads, &error), "pixels",
                      &error);
        return;
    }
    load(m, path);
    figures_check(codec_embedder_open(&m->embedder, m->model, threads, &error), path, &error);
    const taper_image like = {RETRIEVAL_SIDE, RETRIEVAL_SIDE, 3, 8, NULL};
    figures_check(codec_embedder_check(&m->embedder, &like, &error), path, &error);
}

void retrieval_model_close(retrieval_model *m) {
    codec_embedder_close(&m->embedder);
    taper_model_free(m->model);
}

void retrieval_model_codes(const retrieval_model *m, const retrieval_images *images, float *codes) {
    taper_error error = {0};
    figures_check(codec_embedder_codes(&m->embedder, images->image, images->n, codes, &error),
                  "codes", &error);
}
