/* train_settings.h -- what the command line of `taper train` says, and what it means to training.
 */
#ifndef CLI_TRAIN_SETTINGS_H
#define CLI_TRAIN_SETTINGS_H
#include "cli/common/options.h"
#include "cli/train_embedding.h"
#include "train/train.h"

typedef struct cli_train_settings {
    cli_common common;
    uint32_t side, reach; /* what window and lap say */
    const char *output, *window, *lap, *filelist, *labels, *checkpoint, *log, *plot;
    const char *truncation, *regularise;
    const char *from;
    int fast, preset, family, alpha, resume, code, activation, untied, sweep, gradient, optimiser;
    int orthonormal, independent, precision;
    int unit, basis, loss, follow_links;
    int64_t units, epochs, batch, seed, set_images, patience, conditional, head, predict_epochs;
    int64_t restore, restore_steps;
    double rate, rho, truncated, lambda, weight_error;
    double corrupt, dropout, invariance, beta, centre, jitter;
    cli_numbers hidden, quality;
    cli_embedding embedding;
} cli_train_settings;

/* A model of any family; window, lap and regulariser are the caller's. hidden[] holds widths. */
train_options cli_train_options(const cli_train_settings *settings,
                                uint32_t hidden[CODEC_MAX_LAYERS]);
/* An embedding; likewise. CLI_DONE, or CLI_USAGE, which is said. */
int cli_train_embedding(const cli_train_settings *settings, uint32_t hidden[CODEC_MAX_LAYERS],
                        train_embedding_choice *choice);
#endif
