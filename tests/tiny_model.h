/* tiny_model.h -- a trained model for tests: principal components of generated pictures. */
#ifndef TESTS_TINY_MODEL_H
#define TESTS_TINY_MODEL_H
#include "dct_model.h"
#include "train/processor/processor.h"
#include "train/train.h"

/* n pictures of side x side, the caller's to free with tiny_pictures_free. */
static inline taper_image *tiny_pictures(size_t n, uint32_t side, unsigned channels,
                                         uint64_t seed) {
    taper_image *image = calloc(n, sizeof *image);
    if (!image) abort();
    for (size_t i = 0; i < n; i++) image[i] = dct_picture(side, side, channels, seed + i);
    return image;
}

static inline void tiny_pictures_free(taper_image *image, size_t n) {
    for (size_t i = 0; i < n; i++) formats_image_free(&image[i]);
    free(image);
}

/* Train on the pictures; the .tpm file is appended to file, the model is the caller's. */
static inline taper_model *tiny_model_train(const taper_image *image, size_t n, uint32_t window,
                                            uint32_t units, formats_buffer *file) {
    train_dataset data = {.image = (taper_image *)image,
                          .n = n,
                          .available = n,
                          .channels = image[0].channels,
                          .one_size = 1};
    for (size_t i = 0; i < n; i++) data.pixels += (uint64_t)image[i].width * image[i].height;
    train_options options = {.window = window, .units = units};
    train_report report;
    taper_error error = {0};
    codec_backend backend;
    train_device device;
    codec_backend_cpu(&backend);
    size_t start = file->size;
    if (train_processor_open(&device, &backend, TRAIN_PROCESSOR) != TAPER_OK ||
        train_model(&options, &data, &backend, &device, NULL, file, &report, &error) != TAPER_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    train_processor_close(&device);
    codec_backend_close(&backend);
    taper_model *model;
    if (taper_model_load(&model, file->data + start, file->size - start, NULL, NULL)) abort();
    return model;
}

#endif
