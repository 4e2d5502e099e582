/* cells.h -- the cells of the tables and figures: which there are, their names, what they are
 * learned with. */
#ifndef BENCH_PAPER_EMBEDDING_CELLS_H
#define BENCH_PAPER_EMBEDDING_CELLS_H
#include "train/device/operations.h"
#include <stddef.h>
#include <stdint.h>

typedef enum embedding_kind {
    EMBEDDING_PIXELS, /* no network: codes are pixels */
    EMBEDDING_PCA,
    EMBEDDING_LDA,
    EMBEDDING_METRIC, /* linear MCML by projected gradient over the metric */
    EMBEDDING_LINEAR, /* one layer */
    EMBEDDING_DEEP    /* the papers' D-500-500-2000-d */
} embedding_kind;

typedef struct embedding_method {
    const char *name, *variant; /* variant: alpha of Student's kernel or the start; "": neither */
    embedding_kind kind;
    train_neighbour_loss loss;
    int student, learns_alpha; /* deep ones; alpha starts at dims - 1 */
} embedding_method;

enum { EMBEDDING_SPLITS = 6, EMBEDDING_MOST_CELLS = 200 };

typedef struct embedding_cell {
    const char *set; /* "mnist", "usps", "circles" */
    const embedding_method *method;
    uint32_t dims, split, seed; /* split: 1.. of USPS, else 0 */
    char name[64]; /* SET-METHOD[-VARIANT]-DIMS[-splitN]-seedN, of letters, digits, - */
} embedding_cell;

/* The method of this name and variant; the program ends where there is none. */
const embedding_method *embedding_method_of(const char *name, const char *variant);
embedding_cell embedding_cell_of(const char *set, const char *method, const char *variant,
                                 uint32_t dims, uint32_t split, uint32_t seed);

/* All cells of a set (NULL: of all) with this seed; returns how many. */
size_t embedding_cells(const char *set, uint32_t seed, embedding_cell cell[EMBEDDING_MOST_CELLS]);
/* Does one of the shell patterns, separated by blanks, match the cell's name? */
int embedding_cell_matches(const embedding_cell *cell, const char *patterns);

/* --- recipes (recipes.h) ---------------------------------------------------------------- */

typedef struct embedding_recipe {
    const char *pattern;  /* of cells' names; the first that matches is the cell's */
    const char *settings; /* words KEY=VALUE: see settings.h */
    double minutes;       /* to learn it on 2 cores, its stack not counted */
} embedding_recipe;
const embedding_recipe *embedding_recipe_of(const embedding_cell *cell);
#endif
