/* settings.h -- what the command line of `taper train` says, and what it means to training.
 *
 * The room cli/train/: `taper train` before it learns and while it does; the verb is
 * cli/cmd_train.c.
 *   settings table         what may be said, and what it means; the options, and which count
 *   targets                the files that it writes, seen to before it learns
 *   reporter                   progress, learning curve, report; embedding: the same of embeddings,
 * and
 *                          what may be asked of them */
#ifndef CLI_TRAIN_SETTINGS_H
#define CLI_TRAIN_SETTINGS_H
#include "cli/common/options.h"
#include "cli/train/embedding.h"
#include "train/train.h"

typedef struct cli_train_settings {
    cli_common common;
    uint32_t side, reach; /* what window and lap say */
    const char *output, *window, *lap, *filelist, *labels, *checkpoint, *log, *plot;
    const char *truncation, *regularise;
    const char *from;
    int fast, preset, family, alpha, resume, code, activation, untied, sweep, gradient, optimiser;
    int orthonormal, independent, precision;
    int unit, basis, loss, follow_links, null_list, quick;
    int64_t units, epochs, batch, seed, set_images, patience, conditional, head, predict_epochs;
    int64_t restore, restore_steps, class_units;
    double rate, rho, truncated, lambda, weight_error;
    double class_weight, corrupt, dropout, invariance, beta, centre, jitter;
    cli_numbers hidden, quality;
    cli_embedding embedding;
} cli_train_settings;

extern const char *const cli_train_codes[], *const cli_train_losses[]; /* choices, NULL-ended */

/* Take window and lap into side and reach, and look whether all of it goes together. TAPER_ERR_ARG:
 * it does not, and why. Answers for the last cli_options_parse. */
taper_status cli_train_check(cli_train_settings *settings, taper_error *error);

/* A model of any family; window, lap and regulariser are the caller's. hidden[] holds widths. */
train_options cli_train_options(const cli_train_settings *settings,
                                uint32_t hidden[CODEC_MAX_LAYERS]);
/* An embedding; likewise. TAPER_ERR_ARG: its settings make no sense, and why. */
taper_status cli_train_embedding(const cli_train_settings *settings,
                                 uint32_t hidden[CODEC_MAX_LAYERS], train_embedding_choice *choice,
                                 taper_error *error);
#endif
