/* embedding_choice.h -- what may be chosen of an embedding model, what is told while it is made,
 * and what came out. */
#ifndef TRAIN_EMBEDDING_CHOICE_H
#define TRAIN_EMBEDDING_CHOICE_H
#include "codec/taper_search.h"
#include "codec/window.h"
#include "train/embedding/embedding_trainer.h"
#include "train/embedding/linear_start.h"
#include "train/labelling/labelling.h"
#include "train/rbm/rbm_trainer.h"

enum { TRAIN_EMBEDDING_WHOLE = 0xFFFF }; /* a side: that of the images */

/* What the network is before it sees labels. */
typedef enum train_embedding_start {
    TRAIN_EMBEDDING_DRAWN, /* random weights. Hidden layers: ReLU, variance 2 / inputs (He, Zhang,
                              Ren & Sun 2015); else linear.kind */
    TRAIN_EMBEDDING_PRETRAINED, /* layers learned one by one (rbm); hidden layers are logistic */
    TRAIN_EMBEDDING_TAUGHT      /* hidden layers of a teacher (train/labelling), the last drawn */
} train_embedding_start;

typedef struct train_embedding_choice {
    /* Of a square that images are scaled to; TRAIN_EMBEDDING_WHOLE: they are taken as they are, of
     * one size, at most 256 x 256. 0: so where that is at most 64 x 64, else 32. */
    uint32_t side;
    uint32_t units; /* of a code, at least 1; training.free_units are beyond them, and no part of
                       the model, as the decoder of training.reconstruct is none */
    uint32_t most_units;         /* that trials may double units to; below units: they do not */
    const uint32_t *hidden;      /* [n_hidden] widths from the pixels inwards; none: a linear map */
    uint32_t n_hidden;           /* at most CODEC_MAX_LAYERS - 1 */
    train_embedding_start start; /* of networks with hidden layers */
    int guess_labels; /* 1: images without a label get a teacher's guess, and are learned from; of
                         networks with hidden layers */
    train_teaching_options
        teaching;                /* of the teacher, if there is one; its seed is not looked at */
    train_rbm_options rbm;       /* of those that are pretrained; its top is not looked at */
    train_linear_options linear; /* of those without hidden layers */
    train_embedding_options training;
    float motion; /* 0 .. 10: all images are moved in each step, by up to motion / 50 of a side and
                     motion times jitter.h's zooms and turns; training.noise.jitter is not looked at
                   */
    int mirrors;  /* 1: half of those that are moved are mirrored, too */
    /* Above 0: all but units, training's k, seed and threads is found by trials, for about so long
     * in all (embedding_search.h). The report says what was found, and what to expect of it. */
    double minutes;
    const char *objective; /* its name for the model: "dt-nca" (taper_model_info.objective) */
    uint64_t max_work, max_model; /* taper_limits.max_work and max_model_bytes of those who will
                                     read it; 0: any */
} train_embedding_choice;

/* All may be NULL. Returning nonzero from rbm's or training's stops the run: what has been learned
 * by labels until then is kept; without any there is no model. */
typedef struct train_embedding_hooks {
    void *user;
    void (*stage)(void *user, const char *stage, double part); /* as train_stage_fn */
    train_rbm_callbacks rbm;
    train_embedding_callbacks training;
} train_embedding_hooks;

enum { TRAIN_EMBEDDING_TRIALS = 16 };

/* A recipe that was tried on held-out images. */
typedef struct train_embedding_trial {
    const char *words;        /* "a linear map", "motion twice as far" */
    taper_error_rate error;   /* of the model it makes; tested 0: it came to nothing, it diverged */
    taper_error_rate half[2]; /* of every other held-out image */
    double seconds;
    int kept; /* 1: fewer errors than all before it */
} train_embedding_trial;

/* The best of some recipes (embedding_search.h). */
typedef struct train_embedding_found {
    train_embedding_choice choice; /* to learn from all images; hidden is width */
    uint32_t width[CODEC_MAX_LAYERS];
    taper_error_rate error;    /* on held-out images, of the choice, learned from the others; the
                                  best of some, and so too low */
    taper_error_rate expected; /* of the recipe that each half of these chooses, on the other */
    taper_error_rate pixels;   /* of the neighbours by pixels, on the same */
    size_t rows;               /* images that trials had */
    uint32_t folds;
    uint32_t k; /* neighbours that voted in trials: fewer than asked for where classes are small */
    train_embedding_trial trial[TRAIN_EMBEDDING_TRIALS];
    uint32_t trials; /* 0: there was no search */
} train_embedding_found;

typedef struct train_embedding_report {
    codec_window window;
    uint32_t units, weight_bits;
    uint64_t model_bytes;
    size_t images;
    train_embedding_result learned;
    taper_error_rate held_out; /* of the model as it is stored; tested 0: none are held out */
    taper_error_rate pixels;   /* of neighbours by pixels, on the first of the same images, as many
                                  as take seconds; tested 0: not measured */
    taper_error_rate prefix[TRAIN_MOST_PREFIXES]; /* likewise, of nested codes: by length */
    uint32_t k;                                   /* neighbours that voted there */
    double pretraining_seconds;
    train_embedding_found found;
} train_embedding_report;

#endif
