/* embedding.h -- `taper train --objective`: settings and report of embedding models. */
#ifndef CLI_TRAIN_EMBEDDING_H
#define CLI_TRAIN_EMBEDDING_H
#include "cli/common/options.h"
#include "cli/train/reporter.h"
#include "train/supervised/train_embedding.h"

/* Options of embedding models only. */
typedef struct cli_embedding {
    int objective, start; /* 0: none; auto */
    int mirrors, guess_labels;
    double minutes; /* for objective auto */
    const char *degrees;
    cli_numbers nested;
    double hinge, l2, hold_out, motion, reconstruct, numbers_first;
    double teacher_reach;
    int64_t free_units, neighbours, pretrain_epochs, teacher_epochs;
} cli_embedding;

extern const char *const cli_objectives[], *const cli_embedding_starts[];

/* All settings are found by trials; the objective has Student's kernel; the network is pretrained;
 * a teacher network labels images. */
bool cli_embedding_is_searched(const cli_embedding *e);
bool cli_embedding_is_student(const cli_embedding *e);
bool cli_embedding_is_pretrained(const cli_embedding *e, bool has_hidden);
bool cli_embedding_is_taught(const cli_embedding *e);
/* Without --hidden, the network has hidden layers. */
bool cli_embedding_is_deep(const cli_embedding *e);

/* Lengths at which codes may be cut: those of --nested, and all units; empty without --nested. */
train_prefix_list cli_embedding_lengths(const cli_embedding *e, uint32_t units);
/* Complete *choice. The caller has set units (0: 30), hidden, and of training: epochs, batch, rate
 * (0: by objective and units), optimiser, seed, saving and threads. TAPER_ERR_ARG: settings are
 * inconsistent; the text has the reason. */
taper_status cli_embedding_choose(const cli_embedding *e, train_embedding_choice *choice,
                                  taper_error *error);

train_embedding_hooks cli_embedding_hooks(cli_train_reporter *reporter);
/* Print the result, to standard error or as JSON to standard output. */
void cli_embedding_report(const cli_train_reporter *reporter, const train_embedding_choice *choice,
                          const train_embedding_report *report);
#endif
