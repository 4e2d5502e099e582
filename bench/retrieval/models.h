/* models.h -- models from files, and the codes of images by them. */
#ifndef BENCH_RETRIEVAL_MODELS_H
#define BENCH_RETRIEVAL_MODELS_H
#include "bench/retrieval/references.h"
#include "codec/model/embed.h"

typedef struct retrieval_model {
    taper_model *model; /* NULL: codes are pixels */
    codec_embedder embedder;
} retrieval_model;

/* path NULL: pixels. One that takes images of RETRIEVAL_SIDE pixels a side, in colour. */
void retrieval_model_open(retrieval_model *m, const char *path, unsigned threads);
void retrieval_model_close(retrieval_model *m);
/* codes[images->n][m->embedder.width] */
void retrieval_model_codes(const retrieval_model *m, const retrieval_images *images, float *codes);

#endif
