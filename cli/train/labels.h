/* labels.h -- `taper train-labels`: its options, and the choices of training made from them. */
#ifndef CLI_TRAIN_LABELS_H
#define CLI_TRAIN_LABELS_H
#include "cli/train/common.h"
#include "train/supervised/train_embedding.h"

typedef struct cli_labels {
    cli_train_run run;
    int objective, start, code;
    int mirrors, guess_labels;
    double minutes; /* for objective auto */
    const char *degrees;
    cli_numbers nested;
    double hinge, l2, hold_out, motion, reconstruct, numbers_first, corrupt, dropout;
    double teacher_reach;
    int64_t free_units, neighbours, pretrain_epochs, teacher_epochs;
} cli_labels;

/* Members options and uses of cli_verb. */
extern const cli_option cli_labels_table[];
extern const char *const cli_labels_uses[];

/* cli_train_check, and the checks of this verb. TAPER_ERR_ARG: the text has the reason. */
taper_status cli_labels_check(cli_labels *settings, taper_error *error);
/* The uses that apply to this run. */
unsigned cli_labels_uses_of(const cli_labels *settings);
/* hidden: receives the widths of hidden layers. TAPER_ERR_ARG: settings are inconsistent; the text
 * has the reason. */
taper_status cli_labels_choose(const cli_labels *settings, uint32_t hidden[CODEC_MAX_LAYERS],
                               train_embedding_choice *choice, taper_error *error);
#endif
