/* kinds.h -- the kinds of binary autoencoder that figures are told for, by seed.
 *
 * tied or untied: is the decoder the encoder's transpose. feedback: units see the decisions of the
 * units before them (train/nested/nested_network.h); the others are independent, as the paper has
 * them. A network of a kind, number of units, truncation and seed is trained once, whichever part
 * asks first (networks.c). */
#ifndef BENCH_PAPER_KINDS_H
#define BENCH_PAPER_KINDS_H
#include "bench/paper/paper.h"

enum { PAPER_MAX_KINDS = 4, PAPER_MAX_SEEDS = 9 };

typedef struct paper_kind {
    const char *name; /* "tied", "untied", "tied-feedback", "untied-feedback" */
    int tied, feedback;
    const char *settings;   /* beside a recipe's and `tied`, for all networks of the kind */
    const char *truncation; /* of its nested networks of 1,024 units */
} paper_kind;

typedef struct paper_selection {
    paper_kind kind[PAPER_MAX_KINDS]; /* the strongest first: single pictures are made of it */
    uint32_t seed[PAPER_MAX_SEEDS];
    size_t kinds, seeds;
} paper_selection;

/* What --kinds and --seeds name; ends the program where they name nothing. */
paper_selection paper_selected(const paper *p);
/* Is the kind among the names of a list of words? */
int paper_kind_is_in(const paper_kind *kind, const char *names);

/* The settings of a network: `recipe` (recipes.h), the kind's, the number of units (0: the
 * recipe's), the truncation (NULL: a standard autoencoder) and the seed, into settings[320]. */
void paper_kind_settings(const paper_kind *kind, const char *recipe, uint32_t units,
                         const char *truncation, uint32_t seed, char *settings);
/* `name` begins the file's name. */
void paper_train_kind(paper *p, const char *name, const paper_kind *kind, const char *recipe,
                      uint32_t units, const char *truncation, uint32_t seed, paper_network *out);
#endif
