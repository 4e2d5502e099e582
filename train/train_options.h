/* train_options.h -- the options of training, and its callbacks. */
#ifndef TRAIN_TRAIN_OPTIONS_H
#define TRAIN_TRAIN_OPTIONS_H
#include "train/calibrate/evaluate.h"
#include "train/conditional/conditional_trainer.h"
#include "train/dense/dense_trainer.h"
#include "train/nested/nested_trainer.h"
#include "train/restoration/restoration_trainer.h"

enum { TRAIN_WINDOW_AUTO = 0, TRAIN_WINDOW_WHOLE = 0xFFFF, TRAIN_LAP_AUTO = 0xFFFF };

/* The kind of a code of family dense, which decides what a cut removes and how it is trained. */
typedef enum train_code {
    TRAIN_CODE_PLANES, /* bit planes of all units: dense_trainer.h */
    TRAIN_CODE_UNITS,  /* whole real-valued units: nested_trainer.h */
    TRAIN_CODE_BINARY  /* whole units of one bit */
} train_code;

/* The linear transform of family pca, and the start of family dense with TRAIN_CODE_PLANES. */
typedef enum train_basis {
    TRAIN_BASIS_SPARSE,   /* sparse_basis.h; principal components if windows are few */
    TRAIN_BASIS_PRINCIPAL /* principal components */
} train_basis;

typedef enum train_metric {
    TRAIN_MSE,
    /* Thresholds and order are optimised for MS-SSIM (ms_ssim_gain.h). Windows and heads are still
     * chosen by squared error. */
    TRAIN_MS_SSIM
} train_metric;

/* TRAIN_CODE_UNITS and TRAIN_CODE_BINARY */
typedef struct train_nested_choice {
    /* As for train_truncation_make; default "uniform"; NULL: none. */
    const char *truncation;
    /* Default 1: the decoder is the transposed encoder. */
    int tied;
    /* Default 0: binary units have feedback from earlier units. */
    int independent;
    codec_activation hidden_activation; /* default CODEC_RELU */
    /* TRAIN_CODE_UNITS: of the code; default CODEC_LINEAR. */
    codec_activation unit_activation;
    /* Binary: value subtracted from each sent bit; default -1: beta. */
    float centre;
    train_nested_options training; /* its `truncation` is ignored */
} train_nested_choice;
train_nested_choice train_nested_choice_defaults(void);

typedef struct train_options {
    /* --- of every model --- */
    /* Default TAPER_FAMILY_PCA; conv: pca, then its restoration network. */
    taper_family family;
    /* Family dense; default TRAIN_CODE_PLANES. The other codes have the options `nested`. */
    train_code code;
    /* Side in pixels; or TRAIN_WINDOW_AUTO: chosen on the validation part by file and model bytes;
     * or TRAIN_WINDOW_WHOLE: the images, which must have one size, at most 256 x 256 (for
     * TRAIN_CODE_BINARY others are scaled to 32 x 32). Of several windows each has its own
     * checkpoints, PATH.8x8 and so on. */
    uint32_t window;
    /* 0: all of the window, at most 4096, so that quality is not limited */
    uint32_t units;
    /* Family dense: widths of the encoder's hidden layers from the input inwards; the decoder has
     * the same in reverse. NULL: 512, 512 for planes, none for the other codes. */
    const uint32_t *hidden;
    uint32_t n_hidden;
    /* Finest threshold in 8-bit levels times sqrt(window values) (calibrate.h); 0: 2. */
    float step;
    /* Squared error that rounding the linear weights may add; 0: 0.25 (54 dB). */
    double linear_mse;
    /* Images over which the model's bytes are spread when the window is chosen; 0: all given. */
    uint64_t set_images;

    /* --- of models with bit planes: families pca and conv, and TRAIN_CODE_PLANES --- */
    /* The file of a model of family pca or conv to adapt, or NULL. Family, window, lap, units and
     * the shapes of its networks are then its own. */
    const formats_buffer *from;
    /* With `from`: only learn a new restoration network, of the shape in `restoration`. All other
     * parts of the model stay as they are. */
    int restore_anew;
    /* Not for family dense: pixels by which windows overlap their neighbours, at most half a side;
     * 0: none; TRAIN_LAP_AUTO: as many as possible. Ignored if each image is one window. */
    uint32_t lap;
    train_basis basis; /* default TRAIN_BASIS_SPARSE */
    /* Not for family dense: measure to optimise; default TRAIN_MSE. */
    train_metric loss;
    train_dense_options dense; /* of the loop of family dense (dense_trainer.h) */
    /* Checkpoints of family dense: PATH.bits and PATH.bits.head. */
    train_conditional_options conditional, head;
    train_restoration_options restoration; /* family conv */

    /* --- of codes of whole units --- */
    train_nested_choice nested;
    /* Of binary codes of whole images, which are independent: the code is of gradient orientations
     * in this many cells along each side (codec/transform/gradients.h), at most 16, and the model
     * is an embedding model. 0: of pixels. */
    uint32_t cells;
} train_options;

/* Called when a model of one window is complete; there may be several windows. */
typedef void train_candidate_fn(void *user, codec_window window, uint32_t units,
                                uint64_t model_bytes, const train_rd_curve *validation);

/* Called with the name of the present stage and its progress (0..1, or -1: unknown). May be
 * NULL. */
typedef void train_stage_fn(void *user, const char *stage, double part);

/* Called with the number of models trained in parallel on the device, and the number `wanted` if
 * memory sufficed, which is also the initial number. Called from any thread. */
typedef void train_models_fn(void *user, const char *device, size_t models, size_t wanted);

/* With parallel training (side_by_side.h), these are called from other threads, one at a time. */
typedef struct train_hooks {
    void *user;
    train_stage_fn *stage;
    train_callbacks dense;
    train_nested_callbacks nested;
    train_steps_progress_fn *conditional, *head, *restoration;
    train_candidate_fn *candidate;
    train_models_fn *models; /* all of these may be NULL */
} train_hooks;

/* The arguments of the stages of train_model. */
typedef struct train_job {
    train_options options;
    const train_dataset *data;
    codec_backend *be;    /* codes and decodes, on the host */
    train_device *device; /* trains networks */
    const train_hooks *hooks;
    /* State in parallel training (side_by_side.h); NULL: alone. */
    struct train_slot *slot;
} train_job;

#endif
