/* pictures.h -- `taper train`: its options, and the options of training made from them. */
#ifndef CLI_TRAIN_PICTURES_H
#define CLI_TRAIN_PICTURES_H
#include "cli/train/common.h"

typedef struct cli_pictures {
    cli_train_run run;
    const char *from, *lap, *truncation;
    uint32_t reach; /* from lap, by cli_pictures_check */
    int preset, fast, quick, family, basis, loss;
    int64_t conditional, head, predict_epochs, restore, restore_steps, patience;
    double lambda, rho, truncated, jitter;
    cli_numbers quality;
} cli_pictures;

/* Members options and uses of cli_verb. */
extern const cli_option cli_pictures_table[];
extern const char *const cli_pictures_uses[];
/* Options of each preset, for cli_options_parse_over; NULL: none. */
extern const char *const *const cli_pictures_presets[];

/* cli_train_check, and the checks of this verb. TAPER_ERR_ARG: the text has the reason. */
taper_status cli_pictures_check(cli_pictures *settings, taper_error *error);
/* The uses that apply to this run. from: the model to adapt, or NULL. */
unsigned cli_pictures_uses_of(const cli_pictures *settings, const taper_model_info *from);
/* All but the bytes of `from`, which the caller sets. hidden: receives the widths of hidden
 * layers. */
train_options cli_pictures_options(const cli_pictures *settings, uint32_t hidden[CODEC_MAX_LAYERS]);
#endif
