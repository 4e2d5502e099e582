/* table.h -- the option table of `taper train`, the options of its presets, and which options have
 * an effect in a run. */
#ifndef CLI_TRAIN_TABLE_H
#define CLI_TRAIN_TABLE_H
#include "cli/train/settings.h"
#include "cli/train/targets.h"

/* The option table for cli_train_settings; members options and uses of cli_verb. */
extern const cli_option cli_train_table[];
extern const char *const cli_train_uses[];

/* Options of each preset, for cli_options_parse_over; NULL: none. */
extern const char *const *const cli_train_presets[];

/* The uses that apply to this run. from: the model to adapt, or NULL. */
unsigned cli_train_uses_of(const cli_train_settings *settings, const taper_model_info *from);
#endif
