/* builtin_comparison.h -- a model that was just trained against the models that ship, on images
 * that it did not learn from. */
#ifndef TRAIN_BUILTIN_COMPARISON_H
#define TRAIN_BUILTIN_COMPARISON_H
#include "train/train_options.h"

enum { TRAIN_BUILTIN_MODELS = 2 };

/* Against one model that ships. Bytes are payload: ideal code lengths, in bytes an image. */
typedef struct train_builtin_result {
    const char *name;          /* as `-m` takes it */
    double percent;            /* BD-rate of the trained model: below 0 it needs fewer bytes */
    double with_model_percent; /* the same, its file counted once for set_images images */
    double from_db, to_db;     /* the qualities that both reach, from 20 dB where both reach 30 */
    double at_db, bytes, builtin_bytes; /* in the middle of these */
    uint64_t pays_from; /* images in a set for which with_model_percent is 0 at most; 0: none */
} train_builtin_result;

typedef struct train_builtin_comparison {
    size_t n; /* results; models without a quality in common with the trained one are left out */
    train_builtin_result result[TRAIN_BUILTIN_MODELS];
    size_t images;       /* that were measured */
    int held_out;        /* 0: the set is too small to hold any out, they are training images */
    uint64_t set_images; /* as --set-images, or all that were given */
} train_builtin_comparison;

/* The model in file, as train_model made it, against each model that ships, on held-out images of
 * data: all of them, or evenly chosen ones of 2^20 pixels in all, at least one image. Only models
 * with bit planes have the curves for it. The same for any number of threads. TAPER_ERR_NOMEM;
 * errors of taper_model_load. */
taper_status train_compare_builtin(const formats_buffer *file, const train_dataset *data,
                                   uint64_t set_images, codec_backend *be, const train_hooks *hooks,
                                   train_builtin_comparison *out, taper_error *error);

/* The result of the model that ships which needs fewest bytes, the trained one's own file counted
 * or not; NULL: there is none. */
const train_builtin_result *train_best_builtin(const train_builtin_comparison *comparison);

#endif
