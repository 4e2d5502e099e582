/* builtin_comparison.h -- compares a newly trained model with the built-in models, on images that
 * it was not trained on. */
#ifndef TRAIN_BUILTIN_COMPARISON_H
#define TRAIN_BUILTIN_COMPARISON_H
#include "train/train_options.h"

enum { TRAIN_BUILTIN_MODELS = 2 };

/* The comparison with one built-in model. Bytes are payload: ideal code lengths, per image. */
typedef struct train_builtin_result {
    const char *name; /* as for option -m */
    /* BD-rate of the trained model: below 0 it needs fewer bytes. */
    double percent;
    /* The same with the bytes of the trained model's file, spread over set_images images. */
    double with_model_percent;
    /* Common quality range; from 20 dB if both reach 30 dB. */
    double from_db, to_db;
    double at_db, bytes, builtin_bytes; /* at the middle of this range */
    /* Least set_images for which with_model_percent is at most 0; 0: none. */
    uint64_t pays_from;
} train_builtin_result;

typedef struct train_builtin_comparison {
    /* Results; models without a common quality range are left out. */
    size_t n;
    train_builtin_result result[TRAIN_BUILTIN_MODELS];
    size_t images; /* number of images measured */
    /* 0: the set is too small to hold any out; these are training images */
    int held_out;
    /* Value of --set-images, or the number of all images. */
    uint64_t set_images;
} train_builtin_comparison;

/* Compares the model in file, from train_model, with each built-in model on held-out images of
 * data: all of them, or evenly spaced ones of 2^20 pixels in total, at least one. Only models with
 * bit planes can be compared. The result is the same for any number of threads. TAPER_ERR_NOMEM;
 * errors of taper_model_load. */
taper_status train_compare_builtin(const formats_buffer *file, const train_dataset *data,
                                   uint64_t set_images, codec_backend *be, const train_hooks *hooks,
                                   train_builtin_comparison *out, taper_error *error);

/* The result for the built-in model that needs fewest bytes, or NULL. The trained model's own file
 * makes no difference to it. */
const train_builtin_result *train_best_builtin(const train_builtin_comparison *comparison);

#endif
