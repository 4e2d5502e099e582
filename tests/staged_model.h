/* staged_model.h -- a model whose file has six stages, for tests and fuzz seeds. */
#ifndef TESTS_STAGED_MODEL_H
#define TESTS_STAGED_MODEL_H
#include "codec/bitplane/head.h"
#include "dct_model.h"
#include "random_restoration.h"

/* Of family conv: 64 units, windows of 8 x 8 that lap, two parts of each plane, a conditional
 * model, a head and a restoration network of random weights. The caller frees the model; the .tpm
 * file is appended to file. */
static inline taper_model *staged_model_make(formats_buffer *file) {
    codec_lap lap = {.reach = 2, .stored = {3900, -1100, 1200, 3700}};
    codec_weight_precision precision = {0.05, 8};
    formats_buffer first = formats_buffer_make(1 << 24);
    taper_model *m = dct_model_in_parts((codec_window){8, 8, 1, &lap}, 64, 6, 2, &first), *out;
    const uint32_t passes = m->tables.n_passes;
    size_t start = file->size;
    m->info.family = TAPER_FAMILY_CONV;
    m->tables.conditional =
        conditional_random(CODEC_CONDITIONAL_KINDS, 64, passes - 20, 9, 16, 40, 20, 0, 5);
    if (codec_head_attach(&m->tables, conditional_random(1, 64, passes - 30, 4, 8, 20, 10, 0, 6)))
        abort();
    m->restoration = restoration_random(1, 8, 3, 3, passes, 0, 7);
    if (codec_model_write(m, &precision, file, NULL) != TAPER_OK) abort();
    taper_model_free(m);
    formats_buffer_free(&first);
    if (taper_model_load(&out, file->data + start, file->size - start, NULL, NULL)) abort();
    return out;
}

#endif
