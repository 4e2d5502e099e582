/* embedding_choice.h -- the options of training an embedding model, its callbacks, its report. */
#ifndef TRAIN_EMBEDDING_CHOICE_H
#define TRAIN_EMBEDDING_CHOICE_H
#include "codec/taper_search.h"
#include "codec/window.h"
#include "train/embedding/class_tally.h"
#include "train/embedding/embedding_trainer.h"
#include "train/embedding/linear_start.h"
#include "train/labelling/labelling.h"
#include "train/rbm/rbm_trainer.h"

enum { TRAIN_EMBEDDING_WHOLE = 0xFFFF }; /* as side: that of the images */

/* The network before it is trained by labels. */
typedef enum train_embedding_start {
    /* Random weights. Hidden layers: ReLU, variance 2 / inputs (He, Zhang, Ren & Sun 2015); without
     * hidden layers: linear.kind. */
    TRAIN_EMBEDDING_DRAWN,
    /* Layers pretrained one by one (rbm); hidden layers are logistic. */
    TRAIN_EMBEDDING_PRETRAINED,
    /* Hidden layers of a teacher network (train/labelling); the last layer is random. */
    TRAIN_EMBEDDING_TAUGHT
} train_embedding_start;

typedef struct train_embedding_choice {
    /* Side of the square to which images are scaled. TRAIN_EMBEDDING_WHOLE: they are not scaled,
     * have one size, and at most 256 x 256 pixels. 0: TRAIN_EMBEDDING_WHOLE for images of one size
     * of at most 64 x 64, else 32. */
    uint32_t side;
    /* The network gets gradient orientations (codec/transform/gradients.h) in this many cells along
     * each side of an image; 0: it gets pixels. At most half of a side. */
    uint32_t cells;
    /* Units of a code, at least 1. training.free_units are in addition and are not part of the
     * model, nor is the decoder of training.reconstruct. */
    uint32_t units;
    /* Units that the search may double to; below units: it does not double. */
    uint32_t most_units;
    /* Channels of the first layers, 3x3 convolutions with pooling, on pixels or cells
     * (codec/transform/convolution.h); convolutions 0: there are none. They begin with random
     * weights, learn no reconstruction and no guessed labels. */
    uint32_t channels[CODEC_MAX_LAYERS], convolutions;
    /* [n_hidden] widths of fully connected layers, from the pixels inwards; no layers: a linear map
     */
    const uint32_t *hidden;
    uint32_t n_hidden;           /* with convolutions at most CODEC_MAX_LAYERS - 1 */
    train_embedding_start start; /* of networks with hidden layers */
    /* 1: a teacher network guesses the label of unlabelled images, which are then trained on too.
     * Requires hidden layers, and all images on one rank, as TRAIN_EMBEDDING_TAUGHT does. */
    int guess_labels;
    train_teaching_options teaching; /* of the teacher; its seed is ignored */
    /* For TRAIN_EMBEDDING_PRETRAINED; its top is ignored. */
    train_rbm_options rbm;
    train_linear_options linear; /* for networks without hidden layers */
    /* 1: principal components or pretrained layers are compared with random weights, by short
     * trials, and the better start is kept (start_choice.h). Has no effect on other starts, without
     * epochs, or in a search. */
    int compares_starts;
    train_embedding_options training;
    /* 0 .. 10: all images are moved in each step, by up to motion / 50 of a side and motion times
     * the zooms and rotations of jitter.h. training.noise.jitter is ignored. */
    float motion;
    /* 1: half of the moved images are mirrored, too */
    int mirrors;
    /* Above 0: time limit of a search for all options except units and training's k, seed and
     * threads (embedding_search.h); for one rank. The report has the result and its
     * expected error. */
    double minutes;
    /* Its name in the model: "dt-nca" (taper_model_info.objective). */
    const char *objective;
    /* taper_limits.max_work and max_model_bytes of the model's users; 0: no limit. */
    uint64_t max_work, max_model;
} train_embedding_choice;

/* Nonzero: it is no linear map. */
static inline int train_embedding_is_deep(const train_embedding_choice *c) {
    return c->n_hidden || c->convolutions;
}
/* The most_batch of training that suits convolutional layers. */
enum { TRAIN_EMBEDDING_CONVOLUTION_BATCH = 1000 };

struct train_embedding_found;

/* All may be NULL. If a callback of rbm or training returns nonzero, the run stops. The network
 * trained by labels so far is kept; without any there is no model. */
typedef struct train_embedding_hooks {
    void *user;
    void (*stage)(void *user, const char *stage, double part); /* as train_stage_fn */
    /* Of a search: its last trial has ended, which had the options of `choice`. */
    void (*trial)(void *user, const struct train_embedding_found *found,
                  const train_embedding_choice *choice);
    train_rbm_callbacks rbm;
    train_embedding_callbacks training;
} train_embedding_hooks;

enum { TRAIN_EMBEDDING_TRIALS = 20 };

/* Options that the search tried, evaluated on held-out images. */
typedef struct train_embedding_trial {
    /* "a linear map", "motion twice as far" */
    const char *words;
    /* Of the resulting model; tested 0: it diverged. */
    taper_error_rate error;
    taper_error_rate half[2]; /* on every other held-out image */
    /* What trials are compared by: error.rate; with training.balanced the mean over classes. */
    double judged;
    double seconds;
    /* 1: fewer errors than all earlier trials */
    int kept;
} train_embedding_trial;

/* The result of a search (embedding_search.h); during it, of the trials so far. */
typedef struct train_embedding_found {
    /* For training on all images; hidden is width. */
    train_embedding_choice choice;
    uint32_t width[CODEC_MAX_LAYERS];
    /* On held-out images, for the chosen options trained on the others. As the minimum of several
     * trials, it is too low. */
    taper_error_rate error;
    /* Unbiased: of the options that each half of the held-out images chooses, on the other half. */
    taper_error_rate expected;
    /* The same by class; owned by the report. */
    train_class_tally expected_classes;
    /* On the same images: of nearest neighbours by pixels, with fewer images if they are large, and
     * of a classifier network (plain_classifier.h; tested 0: it diverged or exceeds a limit). */
    taper_error_rate pixels, classifier;
    /* The same as trials are judged: the rate, or the mean over classes. */
    double pixels_judged, classifier_judged, judged; /* judged: of `error` */
    double classifier_seconds;
    uint32_t classifier_epochs;
    size_t rows; /* images in trials */
    uint32_t folds;
    /* Voting neighbours in trials: fewer than requested if classes are small. */
    uint32_t k;
    train_embedding_trial trial[TRAIN_EMBEDDING_TRIALS];
    uint32_t trials;  /* 0: there was no search */
    uint32_t in_vain; /* the last trials, which changed the best options without gain */
    int ended_early;  /* 1: with time left: in_vain were too many, or no image is in error */
} train_embedding_found;

/* Two starts compared. tested 0: it was not tried, diverged, or there are too few images. */
typedef struct train_embedding_start_trial {
    taper_error_rate learned, drawn; /* after the same short training, on held-out images */
    int is_drawn;                    /* 1: random weights are kept */
    double seconds;
} train_embedding_start_trial;

typedef struct train_embedding_report {
    codec_window window;
    uint32_t units;
    uint64_t model_bytes;
    size_t images;
    train_embedding_result learned;
    /* Of the stored model; tested 0: no images are held out. */
    taper_error_rate held_out;
    train_class_tally held_out_classes; /* the same by class */
    /* Of nearest neighbours by pixels, on the first of the same images, as many as take seconds;
     * tested 0: not measured. */
    taper_error_rate pixels;
    /* The errors of pixels and codes, for comparison: rates or, with training.balanced, means over
     * classes. */
    double pixels_judged, judged;
    /* The same for nested codes, of each prefix length. */
    taper_error_rate prefix[TRAIN_MOST_PREFIXES];
    uint32_t k; /* voting neighbours for these errors */
    double pretraining_seconds;
    train_embedding_start_trial start;
    train_embedding_found found;
} train_embedding_report;

#endif
