/* models.h -- models from files, and the codes of images by them. */
#ifndef BENCH_RETRIEVAL_MODELS_H
#define BENCH_RETRIEVAL_MODELS_H
#include "bench/retrieval/code_set.h"
#include "bench/retrieval/images.h"
#include "codec/taper_model.h"

typedef struct retrieval_model {
    const char *path;
    taper_model *model; /* NULL: codes are pixels */
    taper_embedder *embedder;
    size_t width;      /* numbers in a code */
    int keeps_margins; /* codes are margins; set after opening */
} retrieval_model;

/* path NULL: pixels, of images of RETRIEVAL_SIDE pixels a side, in colour. */
void retrieval_model_open(retrieval_model *m, const char *path, unsigned threads);
void retrieval_model_close(retrieval_model *m);
/* codes[images->n][m->width]; images are of the size that the model takes. */
void retrieval_model_codes(const retrieval_model *m, const retrieval_images *images, float *codes);
/* The codes in bits of both, by the binary model at path: a set to search in. */
void retrieval_model_set(const char *path, const retrieval_images *images,
                         const retrieval_images *queries, unsigned threads, retrieval_set *set);

#endif
