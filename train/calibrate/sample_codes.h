/* sample_codes.h -- codes of images, the training data of code tables. */
#ifndef TRAIN_SAMPLE_CODES_H
#define TRAIN_SAMPLE_CODES_H
#include "codec/bitplane/code_tables.h"
#include "codec/window.h"

/* Codes of whole images: code[n][units], windows image after image. */
typedef struct train_codes {
    const float *code;
    size_t n;
    const codec_grid *grid; /* [n_images] */
    size_t n_images;
} train_codes;

#endif
