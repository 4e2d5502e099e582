/* train_embedding.h -- `taper train --objective`: what may be asked of an embedding, and what is
 * said of it. */
#ifndef CLI_TRAIN_EMBEDDING_H
#define CLI_TRAIN_EMBEDDING_H
#include "cli/train_talk.h"
#include "train/train_embedding.h"

/* The options that no other model has. */
typedef struct cli_embedding {
    int objective, start; /* 0: none, auto */
    const char *degrees;
    double hinge, l2, hold_out;
    int64_t neighbours, pretrain_epochs;
} cli_embedding;

extern const char *const cli_objectives[], *const cli_embedding_starts[];

/* clang-format off */
#define CLI_EMBEDDING_OPTIONS(S, EMBED, STUDENT, PRETRAINED)                                       \
    {"objective", 0, CLI_CHOICE, "NAME", offsetof(S, embedding.objective),                         \
     .choices = cli_objectives, .initial = "none",                                                 \
     .help = "an embedding model: codes whose nearest neighbours share their label"},              \
    {"start", 0, CLI_CHOICE, "HOW", offsetof(S, embedding.start), .choices = cli_embedding_starts, \
     .initial = "auto", .help = "embedding: what it is before it sees labels", .uses = EMBED},     \
    {"degrees", 0, CLI_STRING, "A", offsetof(S, embedding.degrees), .initial = "auto",             \
     .help = "dt-: degrees of freedom, 'learned', or 'auto': units - 1", .uses = STUDENT},         \
    {"hinge", 0, CLI_DOUBLE, "W", offsetof(S, embedding.hinge), .min = 0, .max = 1e6,              \
     .initial = "0", .help = "embedding: price of classes nearer than 1", .uses = EMBED},          \
    {"l2", 0, CLI_DOUBLE, "W", offsetof(S, embedding.l2), .min = 0, .max = 1e6, .initial = "0",    \
     .help = "embedding: price of large weights", .uses = EMBED},                                  \
    {"neighbours", 0, CLI_INT, "K", offsetof(S, embedding.neighbours), .min = 1, .max = 10000,     \
     .initial = "5", .help = "embedding: that vote on a held-out image", .uses = EMBED},           \
    {"hold-out", 0, CLI_DOUBLE, "S", offsetof(S, embedding.hold_out), .min = 0, .max = 0.9,        \
     .initial = "0.0625", .uses = EMBED,                                                           \
     .help = "embedding: share of the images that choose the epoch; 0: none"},                     \
    {"pretrain-epochs", 0, CLI_INT, "N", offsetof(S, embedding.pretrain_epochs), .min = 1,         \
     .max = 100000, .initial = "50", .help = "embedding: of each layer, before labels",            \
     .uses = PRETRAINED}
/* clang-format on */

/* Does the objective have Student's kernel? Is the network pretrained? */
bool cli_embedding_is_student(const cli_embedding *e);
bool cli_embedding_is_pretrained(const cli_embedding *e, bool has_hidden);
/* Has the network hidden layers where --hidden is not given? */
bool cli_embedding_is_deep(const cli_embedding *e);

/* What train has asked for so far, in choice: units (0: 30), hidden, and training's epochs, batch,
 * rate, optimiser, seed, saving, threads; the rest is filled in. CLI_DONE, or CLI_USAGE when it
 * makes no sense, which is said. */
int cli_embedding_choose(const cli_embedding *e, train_embedding_choice *choice);

train_embedding_hooks cli_embedding_hooks(cli_train_talk *talk);
/* What came out, to standard error or as JSON to standard output. */
void cli_embedding_report(const cli_train_talk *talk, const train_embedding_choice *choice,
                          const train_embedding_report *report);
#endif
