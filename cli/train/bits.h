/* bits.h -- `taper train-bits`: its options, and the options of training made from them. */
#ifndef CLI_TRAIN_BITS_H
#define CLI_TRAIN_BITS_H
#include "cli/train/common.h"

typedef struct cli_bits {
    cli_train_run run;
    const char *truncation, *regularise;
    int preset, code, activation, unit, gradient;
    int untied, independent, sweep, orthonormal;
    int64_t class_units;
    double class_weight, corrupt, dropout, invariance, beta, centre;
    cli_numbers nested;
} cli_bits;

/* Members options and uses of cli_verb. */
extern const cli_option cli_bits_table[];
extern const char *const cli_bits_uses[];
/* Options of each preset, for cli_options_parse_over; NULL: none. */
extern const char *const *const cli_bits_presets[];

/* cli_train_check, and the checks of this verb. TAPER_ERR_ARG: the text has the reason. */
taper_status cli_bits_check(cli_bits *settings, taper_error *error);
/* The uses that apply to this run. */
unsigned cli_bits_uses_of(const cli_bits *settings);
/* hidden: receives the widths of hidden layers. TAPER_ERR_ARG: --regularise is wrong; the text has
 * the reason. */
taper_status cli_bits_options(const cli_bits *settings, uint32_t hidden[CODEC_MAX_LAYERS],
                              train_options *options, taper_error *error);
#endif
