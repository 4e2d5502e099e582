/* settings.h -- the settings of `taper train`, and the options of training made from them.
 *
 * Directory cli/train/: parts of `taper train`; the verb is cli/cmd_train.c.
 *   settings   settings, their checks, and options of training
 *   table      the option table, presets, and which options have an effect
 *   targets    the output files, checked before training
 *   reporter   progress, learning curve, report
 *   embedding  settings and report of embedding models */
#ifndef CLI_TRAIN_SETTINGS_H
#define CLI_TRAIN_SETTINGS_H
#include "cli/common/options.h"
#include "cli/train/embedding.h"
#include "train/train.h"

typedef struct cli_train_settings {
    cli_common common;
    uint32_t side, reach; /* from window and lap, by cli_train_check */
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

extern const char *const cli_train_codes[], *const cli_train_losses[]; /* NULL-terminated */

/* Set side and reach from window and lap, and check that the options of the last cli_options_parse
 * are consistent. TAPER_ERR_ARG: they are not; the text has the reason. */
taper_status cli_train_check(cli_train_settings *settings, taper_error *error);

/* Options for a model of any family; the caller sets window, lap and regulariser. hidden: receives
 * the widths of hidden layers. */
train_options cli_train_options(const cli_train_settings *settings,
                                uint32_t hidden[CODEC_MAX_LAYERS]);
/* Options for an embedding model. TAPER_ERR_ARG: settings are inconsistent; the text has the
 * reason.
 */
taper_status cli_train_embedding(const cli_train_settings *settings,
                                 uint32_t hidden[CODEC_MAX_LAYERS], train_embedding_choice *choice,
                                 taper_error *error);
#endif
