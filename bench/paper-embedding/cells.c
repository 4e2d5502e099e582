/* cells.c -- see cells.h. */
#include "bench/paper-embedding/cells.h"
#include "bench/figures/figures.h"
#include "bench/paper-embedding/recipes.h"
#include <fnmatch.h>
#include <string.h>

static const embedding_method methods[] = {
    {"pixels", "", EMBEDDING_PIXELS, TRAIN_NCA, 0, 0},
    {"pca", "", EMBEDDING_PCA, TRAIN_NCA, 0, 0},
    {"lda", "", EMBEDDING_LDA, TRAIN_NCA, 0, 0},
    {"mcml", "", EMBEDDING_METRIC, TRAIN_MCML, 0, 0},
    {"linear-nca", "random", EMBEDDING_LINEAR, TRAIN_NCA, 0, 0},
    {"linear-nca", "pca", EMBEDDING_LINEAR, TRAIN_NCA, 0, 0},
    {"dg-mcml", "", EMBEDDING_DEEP, TRAIN_MCML, 0, 0},
    {"dt-mcml", "d-1", EMBEDDING_DEEP, TRAIN_MCML, 1, 0},
    {"dt-mcml", "learned", EMBEDDING_DEEP, TRAIN_MCML, 1, 1},
    /* images move in training: not the papers' */
    {"dt-mcml", "d-1-moved", EMBEDDING_DEEP, TRAIN_MCML, 1, 0},
    {"dg-nca", "", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dt-nca", "d-1", EMBEDDING_DEEP, TRAIN_NCA, 1, 0},
    {"dt-nca", "learned", EMBEDDING_DEEP, TRAIN_NCA, 1, 1},
    {"dt-nca", "d-1-moved", EMBEDDING_DEEP, TRAIN_NCA, 1, 0},
    /* nonlinear NCA's section 5: 30 class units and 20 that only reconstruct; few labels, with
     * lambda 1, 0.99 and 0 */
    {"dg-nca", "split", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dt-nca", "d-1-split", EMBEDDING_DEEP, TRAIN_NCA, 1, 0},
    /* pixels and units are left out in training */
    {"dt-nca", "d-1-noise", EMBEDDING_DEEP, TRAIN_NCA, 1, 0},
    {"dt-log-nca", "d-1-noise", EMBEDDING_DEEP, TRAIN_LOG_NCA, 1, 0},
    /* a teacher's guesses for those without a label, and its hidden layers as the start */
    {"dt-mcml", "d-1-guessed-of-100", EMBEDDING_DEEP, TRAIN_MCML, 1, 0},
    {"dt-mcml", "d-1-guessed-of-1000", EMBEDDING_DEEP, TRAIN_MCML, 1, 0},
    {"dt-log-nca", "d-1-taught", EMBEDDING_DEEP, TRAIN_LOG_NCA, 1, 0},
    {"dg-nca", "few1", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few5", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few10", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few1-regularised", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few5-regularised", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few10-regularised", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few1-autoencoder", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few5-autoencoder", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
    {"dg-nca", "few10-autoencoder", EMBEDDING_DEEP, TRAIN_NCA, 0, 0},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

const embedding_method *embedding_method_of(const char *name, const char *variant) {
    for (size_t i = 0; i < METHODS; i++)
        if (!strcmp(methods[i].name, name) && !strcmp(methods[i].variant, variant))
            return &methods[i];
    figures_die("no method %s %s", name, variant);
}

static embedding_cell make(const char *set, const embedding_method *m, uint32_t dims,
                           uint32_t split, uint32_t seed) {
    embedding_cell c = {.set = set, .method = m, .dims = dims, .split = split, .seed = seed};
    char of_split[24] = "";
    if (split) snprintf(of_split, sizeof of_split, "-split%u", split);
    snprintf(c.name, sizeof c.name, "%s-%s%s%s-%u%s-seed%u", set, m->name, m->variant[0] ? "-" : "",
             m->variant, dims, of_split, seed);
    return c;
}

embedding_cell embedding_cell_of(const char *set, const char *method, const char *variant,
                                 uint32_t dims, uint32_t split, uint32_t seed) {
    return make(set, embedding_method_of(method, variant), dims, split, seed);
}

/* Which dims of a method a set has, 0 at the end. */
static void dims_of(const char *set, const embedding_method *m, uint32_t dims[4]) {
    int mnist = !strcmp(set, "mnist"), circles = !strcmp(set, "circles");
    memset(dims, 0, 4 * sizeof *dims);
    switch (m->kind) {
    case EMBEDDING_PIXELS:
        if (mnist) dims[0] = 784;
        break;
    case EMBEDDING_PCA:
        if (mnist) dims[0] = 2, dims[1] = 30, dims[2] = 32;
        if (circles) dims[0] = 2;
        break;
    case EMBEDDING_LDA:
        if (mnist || circles) dims[0] = 2;
        break;
    case EMBEDDING_METRIC:
        if (!mnist && !circles) dims[0] = 2, dims[1] = 30;
        break;
    case EMBEDDING_LINEAR:
        if (mnist) dims[0] = 2, dims[1] = 32;
        if (circles) dims[0] = 2;
        break;
    case EMBEDDING_DEEP:
        if (circles) break;
        dims[0] = 2, dims[1] = 30;
        if (strstr(m->variant, "noise") || strstr(m->variant, "guessed") ||
            strstr(m->variant, "taught") || !strncmp(m->variant, "few", 3))
            dims[0] = mnist ? 30 : 0, dims[1] = 0;
        if (strstr(m->variant, "split")) dims[0] = mnist ? 50 : 0, dims[1] = 0;
        if (strcmp(m->variant, "d-1-moved") != 0) break;
        dims[0] = m->loss == TRAIN_MCML ? (mnist ? 2 : 0) : 30,
        dims[1] = 0; /* those with a recipe */
        break;
    }
}

size_t embedding_cells(const char *set, uint32_t seed, embedding_cell cell[EMBEDDING_MOST_CELLS]) {
    static const char *const sets[] = {"mnist", "usps", "circles"};
    size_t n = 0;
    for (size_t s = 0; s < 3; s++) {
        int splits = !strcmp(sets[s], "usps") ? EMBEDDING_SPLITS : 0;
        if (set && strcmp(set, sets[s]) != 0) continue;
        for (size_t m = 0; m < METHODS; m++) {
            uint32_t dims[4];
            dims_of(sets[s], &methods[m], dims);
            for (size_t d = 0; dims[d]; d++)
                for (int split = splits ? 1 : 0; split <= splits; split++)
                    cell[n++] = make(sets[s], &methods[m], dims[d], (uint32_t)split, seed);
        }
    }
    return n;
}

int embedding_cell_matches(const embedding_cell *cell, const char *patterns) {
    char word[80];
    while (*(patterns += strspn(patterns, " "))) {
        size_t n = strcspn(patterns, " ");
        if (n >= sizeof word) figures_die("a pattern that is too long: %s", patterns);
        memcpy(word, patterns, n);
        word[n] = 0;
        patterns += n;
        if (fnmatch(word, cell->name, 0) == 0) return 1;
    }
    return 0;
}

const embedding_recipe *embedding_recipe_of(const embedding_cell *cell) {
    size_t i = 0;
    while (fnmatch(embedding_recipes[i].pattern, cell->name, 0) != 0) i++;
    return &embedding_recipes[i];
}
