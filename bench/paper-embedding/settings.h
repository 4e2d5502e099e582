/* settings.h -- what a recipe says: words KEY=VALUE, of which a later one wins. */
#ifndef BENCH_PAPER_EMBEDDING_SETTINGS_H
#define BENCH_PAPER_EMBEDDING_SETTINGS_H
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/embedding.h"
#include "codec/transform/network.h"
#include "train/embedding/embedding_trainer.h"

typedef enum embedding_pretraining {
    EMBEDDING_RBM,       /* the papers' */
    EMBEDDING_DENOISING, /* denoising autoencoders */
    EMBEDDING_TAUGHT,    /* a teacher's hidden layers (train/labelling), ReLU */
    EMBEDDING_NONE       /* random weights */
} embedding_pretraining;

typedef struct embedding_settings {
    train_embedding_options training; /* epochs, batch, rate, l2, hinge, optimiser=cg|adam,
                                         line-searches, corrupt, dropout, jitter; reconstruct=0.01
                                         free=20: of the cell's dims */
    uint32_t width[CODEC_MAX_LAYERS]; /* widths=500-500-2000, the default: hidden layers */
    uint32_t layers;
    embedding_pretraining pretraining; /* pretrain=rbm|denoising|taught|none */
    uint32_t pretraining_epochs;       /* pretrain-epochs=50 */
    double labels_percent;             /* labels=100: of each class's images, that keep a label */
    uint32_t labels_each;              /* labels-each=10: so many of each class's do; 0: labels= */
    int guess;                         /* guess=1: the others get a teacher's guess */
    uint32_t teacher_epochs;           /* teacher-epochs=0: as train_teaching_defaults */
    double spread; /* spread=0: of a linear start's distances (train_linear_options) */
} embedding_settings;

/* Those of a cell's recipe, and those given beside it. */
void embedding_settings_words(const embedding *e, const embedding_cell *cell, char *words,
                              size_t size);

/* The program ends where a word is none of these. */
embedding_settings embedding_settings_of(const char *text);
#endif
