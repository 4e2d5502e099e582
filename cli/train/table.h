/* table.h -- the options of `taper train`, what presets stand for, and which options count in a
 * run.
 */
#ifndef CLI_TRAIN_TABLE_H
#define CLI_TRAIN_TABLE_H
#include "cli/train/settings.h"
#include "cli/train/targets.h"

/* Of cli_train_settings; as cli_verb has them. */
extern const cli_option cli_train_table[];
extern const char *const cli_train_uses[];

/* By `preset`: words for cli_options_parse_over; NULL: none. */
extern const char *const *const cli_train_presets[];

/* The uses that hold for this run. from: the model to adapt, or NULL. */
unsigned cli_train_uses_of(const cli_train_settings *settings, const taper_model_info *from);
#endif
