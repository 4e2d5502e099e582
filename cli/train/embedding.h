/* embedding.h -- `taper train --objective`: what may be asked of an embedding, and what is said of
 * it. */
#ifndef CLI_TRAIN_EMBEDDING_H
#define CLI_TRAIN_EMBEDDING_H
#include "cli/common/options.h"
#include "cli/train/reporter.h"
#include "train/supervised/train_embedding.h"

/* The options that no other model has. */
typedef struct cli_embedding {
    int objective, start; /* 0: none, auto */
    int mirrors, guess_labels;
    double minutes; /* of objective auto */
    const char *degrees;
    cli_numbers nested;
    double hinge, l2, hold_out, motion, reconstruct, numbers_first;
    double teacher_reach;
    int64_t free_units, neighbours, pretrain_epochs, teacher_epochs;
} cli_embedding;

extern const char *const cli_objectives[], *const cli_embedding_starts[];

/* Is all found by trials? Does the objective have Student's kernel? Is the network pretrained? */
bool cli_embedding_is_searched(const cli_embedding *e);
bool cli_embedding_is_student(const cli_embedding *e);
bool cli_embedding_is_pretrained(const cli_embedding *e, bool has_hidden);
bool cli_embedding_is_taught(const cli_embedding *e);
/* Has the network hidden layers where --hidden is not given? */
bool cli_embedding_is_deep(const cli_embedding *e);

/* Lengths at which codes may be cut: those asked for, and all units; none were: none. */
train_prefix_list cli_embedding_lengths(const cli_embedding *e, uint32_t units);
/* What train has asked for so far, in choice: units (0: 30), hidden, and training's epochs, batch,
 * rate (0: by objective and units), optimiser, seed, saving, threads; the rest is filled in.
 * TAPER_ERR_ARG: it makes no sense, and why. */
taper_status cli_embedding_choose(const cli_embedding *e, train_embedding_choice *choice,
                                  taper_error *error);

train_embedding_hooks cli_embedding_hooks(cli_train_reporter *reporter);
/* What came out, to standard error or as JSON to standard output. */
void cli_embedding_report(const cli_train_reporter *reporter, const train_embedding_choice *choice,
                          const train_embedding_report *report);
#endif
