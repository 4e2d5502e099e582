/* train_options.h -- the options of training, and the hooks that it reports to. */
#ifndef TRAIN_TRAIN_OPTIONS_H
#define TRAIN_TRAIN_OPTIONS_H
#include "train/calibrate/evaluate.h"
#include "train/conditional/conditional_trainer.h"
#include "train/dense/dense_trainer.h"
#include "train/nested/nested_trainer.h"
#include "train/restoration/restoration_trainer.h"

enum { TRAIN_WINDOW_AUTO = 0, TRAIN_WINDOW_WHOLE = 0xFFFF, TRAIN_LAP_AUTO = 0xFFFF };

/* What a cut takes from a code of family dense, and how it is trained. */
typedef enum train_code {
    TRAIN_CODE_PLANES, /* bits of all units: dense_trainer.h */
    TRAIN_CODE_UNITS,  /* whole real-valued units: nested_trainer.h */
    TRAIN_CODE_BINARY  /* whole units of one bit */
} train_code;

/* The linear transform of family pca, and where family dense with TRAIN_CODE_PLANES begins. */
typedef enum train_basis {
    TRAIN_BASIS_SPARSE,   /* sparse_basis.h, where there are windows enough; else */
    TRAIN_BASIS_PRINCIPAL /* the principal components themselves */
} train_basis;

typedef enum train_metric {
    TRAIN_MSE,
    TRAIN_MS_SSIM /* thresholds and order for it (ms_ssim_gain.h); a window, or whether a head is
                     kept, is chosen by the squared error all the same */
} train_metric;

/* TRAIN_CODE_UNITS and TRAIN_CODE_BINARY */
typedef struct train_nested_choice {
    const char *truncation; /* as train_truncation_make takes it; default "uniform"; NULL: none */
    int tied;               /* default 1: the decoder is the encoder transposed */
    int independent;        /* default 0: binary units see what those before them left */
    codec_activation hidden_activation; /* default CODEC_RELU */
    codec_activation unit_activation;   /* TRAIN_CODE_UNITS: of the code; default CODEC_LINEAR */
    float centre; /* binary: what is taken off a bit that is sent; default -1: beta */
    train_nested_options training; /* its `truncation` is not looked at */
} train_nested_choice;
train_nested_choice train_nested_choice_defaults(void);

typedef struct train_options {
    taper_family family; /* default TAPER_FAMILY_PCA; conv is pca, then its restoration network */
    uint32_t window;   /* side in pixels, TRAIN_WINDOW_AUTO (chosen on the validation part by file +
                          model bytes) or TRAIN_WINDOW_WHOLE (the images, which must have one size,
                          at most 256 x 256; for TRAIN_CODE_BINARY others are scaled to 32 x 32) */
    uint32_t lap;      /* not family dense: pixels by which windows reach over their edges, at most
                          half a side; 0: none; TRAIN_LAP_AUTO: as many as may be. Where images have
                          several windows */
    train_basis basis; /* default TRAIN_BASIS_SPARSE */
    train_metric loss; /* not family dense: what a cut keeps small; default TRAIN_MSE */
    uint32_t units;    /* 0: all the window has, at most 4096, so that quality has no ceiling */
    float step; /* finest threshold in 8-bit levels times sqrt(window values) (calibrate.h); 0: 2 */
    double linear_mse; /* squared error that rounding the linear weights may add; 0: 0.25 (54 dB) */
    uint64_t set_images;        /* images over which the model's bytes are spread when the window is
                                   chosen; 0: as many as given */
    const formats_buffer *from; /* NULL, or the file of a model of family pca or conv to adapt:
                                   family, window, lap, units, and its networks' shapes are its */
    train_code code;            /* family dense; default TRAIN_CODE_PLANES */
    /* Of several windows each has checkpoints of its own, PATH.8x8 and so on; those of
     * `conditional` and `head` of family dense are PATH.bits and PATH.bits.head. */
    train_dense_options dense;                   /* TRAIN_CODE_PLANES: its loop (dense_trainer.h) */
    train_nested_choice nested;                  /* the other codes */
    train_conditional_options conditional, head; /* not for codes of whole units */
    train_restoration_options restoration;       /* family conv */
    const uint32_t *hidden; /* family dense: widths of the encoder's hidden layers from the input
                               inwards; the decoder's mirror them. NULL: 512, 512 for planes, none
                               for the other codes */
    uint32_t n_hidden;
} train_options;

/* A model of one window is done, one of several or the only one. */
typedef void train_candidate_fn(void *user, codec_window window, uint32_t units,
                                uint64_t model_bytes, const train_rd_curve *validation);

/* What train_model says while it works: a stage's name, and how far it is (0..1, or -1). May be
 * NULL. */
typedef void train_stage_fn(void *user, const char *stage, double part);

/* `models` of several models learn at once on the device, of the `wanted` that would if there were
 * memory for them: at the beginning as many as wanted. Called from any thread. */
typedef void train_models_fn(void *user, const char *device, size_t models, size_t wanted);

/* Where models learn at once (side_by_side.h), these are called from other threads, by one at a
 * time. */
typedef struct train_hooks {
    void *user;
    train_stage_fn *stage;
    train_callbacks dense;
    train_nested_callbacks nested;
    train_steps_progress_fn *conditional, *head, *restoration;
    train_candidate_fn *candidate;
    train_models_fn *models; /* this and all before may be NULL */
} train_hooks;

/* What the stages of train_model work with. */
typedef struct train_job {
    train_options options;
    const train_dataset *data;
    codec_backend *be;    /* what codes and decodes: the host's */
    train_device *device; /* what learns */
    const train_hooks *hooks;
    struct train_seat *seat; /* among models that learn at once (side_by_side.h); NULL: alone */
} train_job;

#endif
