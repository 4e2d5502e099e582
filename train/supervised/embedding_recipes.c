/* embedding_recipes.c -- see embedding_recipes.h. */
#include "train/supervised/embedding_recipes.h"
#include "formats/bytes.h"
#include <string.h>

enum { CELLS = 4 }; /* along a side: few values, and hardly more errors than with 8 */

static void without_convolutions(train_embedding_choice *c) {
    memset(c->channels, 0, sizeof c->channels);
    c->convolutions = 0;
    c->training.noise.dropout = 0.0f;
    c->training.most_batch = train_embedding_defaults().most_batch;
}
static void linear(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    without_convolutions(c);
    c->objective = "nca", c->n_hidden = 0, c->cells = 0, c->motion = 0.0f;
    c->training.objective = (train_neighbour_objective){.loss = TRAIN_NCA};
    c->training.rate = 3e-3f; /* at 0.01 the error of linear maps of natural images rises */
    c->linear.spread = 10.0, c->linear.seed = c->training.seed;
}
static void linear_of_gradients(train_embedding_choice *c, uint32_t *width) {
    linear(c, width);
    c->cells = CELLS;
}
/* For natural images log NCA has fewer errors after 12 epochs than NCA after 20. Rows whose
 * neighbours are all of other classes have most weight in log NCA and almost none in NCA
 * (bench/results/README.md). */
static void deep(train_embedding_choice *c, uint32_t *width) {
    without_convolutions(c);
    width[0] = width[1] = 500;
    c->objective = "dt-log-nca", c->n_hidden = 2, c->cells = 0;
    c->start = TRAIN_EMBEDDING_DRAWN;
    c->training.objective = (train_neighbour_objective){
        .loss = TRAIN_LOG_NCA, .student = 1, .alpha = c->units > 1 ? c->units - 1 : 1};
    c->training.rate = 2e-3f;
    c->motion = 3.0f;
}
void train_embedding_deep_of_gradients(train_embedding_choice *c, uint32_t *width) {
    deep(c, width);
    c->cells = CELLS, c->motion = 0.0f;
}
/* On small images with shapes; few channels, so that trials have enough passes. */
static void convolve(train_embedding_choice *c, uint32_t *width) {
    deep(c, width);
    c->n_hidden = 0, c->motion = 0.0f;
    c->channels[0] = 16, c->channels[1] = 32, c->convolutions = 2;
    c->training.most_batch = TRAIN_EMBEDDING_CONVOLUTION_BATCH;
}
/* Natural images have fewer errors by convolutions of gradients, which take a fifth of the time. */
static void convolve_gradients(train_embedding_choice *c, uint32_t *width) {
    convolve(c, width);
    c->channels[0] = 64, c->channels[1] = 0, c->convolutions = 1;
    c->cells = 2 * CELLS, c->training.noise.dropout = 0.3f;
}
static void halve_cells(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->cells *= 2;
}
/* No training: for few images with much noise that may be best. */
static void only_start(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    if (c->linear.kind == TRAIN_START_PCA) c->training.epochs = 0;
}
static void double_units(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    if (2 * c->units > c->most_units) return;
    c->units *= 2;
    if (c->training.binary) c->training.prefixes = train_prefix_halves(c->units);
    if (c->training.objective.student) c->training.objective.alpha = c->units - 1;
}
static void move_first(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->motion = 1.0f;
}
static void move_more(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->motion = c->motion > 0.0f ? 2.0f * c->motion : 1.0f;
}
static void move_less(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->motion *= 0.4f;
}
static void drop(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    if (train_embedding_is_deep(c)) c->training.noise.dropout = 0.3f;
}
static void widen(train_embedding_choice *c, uint32_t *width) {
    for (uint32_t i = 0; i < c->n_hidden; i++) width[i] *= 2;
    for (uint32_t i = 0; i < c->convolutions; i++) c->channels[i] *= 2;
}
static void slow_down(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->training.rate *= 0.4f;
}
static void mirror(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    c->mirrors = c->motion > 0.0f;
}
/* MCML, which collapses each class to a point. */
static void collapse(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    if (!train_embedding_is_deep(c)) return;
    c->objective = "dt-mcml";
    c->training.objective.loss = TRAIN_MCML, c->training.objective.all_pairs = 1;
}
static void take_bits_sooner(train_embedding_choice *c, uint32_t *width) {
    (void)width;
    if (c->training.binary) c->training.numbers_first = 0.0;
}
static void deepen(train_embedding_choice *c, uint32_t *width) {
    if (c->n_hidden && c->n_hidden + 1 < CODEC_MAX_LAYERS)
        width[c->n_hidden] = width[c->n_hidden - 1], c->n_hidden++;
}

/* From the cheapest that may suffice to the dearest. */
static const train_embedding_recipe recipes[] = {
    {"gradients, a linear map", linear_of_gradients, 1, 1},
    {"a linear map", linear, 1, 1},
    {"principal components", only_start, 0, 1},
    {"twice as many numbers", double_units, 0, 1},
    {"gradients, two hidden layers", train_embedding_deep_of_gradients, 1, 1},
    {"gradients, a convolution", convolve_gradients, 1, 3},
    {"convolutions", convolve, 1, 2},
    {"two hidden layers", deep, 1, 1},
    {"images move", move_first, 0, 1},
    {"bits sooner", take_bits_sooner, 0, 1},
    {"half as large cells", halve_cells, 0, 1},
    {"motion less far", move_less, 0, 1},
    {"motion twice as far", move_more, 0, 1},
    {"mirrored, too", mirror, 0, 1},
    {"classes collapse", collapse, 0, 1},
    {"layers twice as wide", widen, 0, 1},
    {"dropout", drop, 0, 1},
    {"rate 0.4 times", slow_down, 0, 1},
    {"a layer more", deepen, 0, 1},
    {"twice as many numbers", double_units, 0, 1}};
enum { RECIPES = sizeof recipes / sizeof *recipes };
_Static_assert((int)RECIPES <= (int)TRAIN_EMBEDDING_TRIALS, "each is a trial");

const train_embedding_recipe *train_embedding_recipe_of(uint32_t i) {
    return i < RECIPES ? &recipes[i] : NULL;
}

uint32_t train_embedding_recipes(void) { return RECIPES; }

train_embedding_choice train_embedding_first_choice(const train_embedding_choice *base,
                                                    uint32_t inputs) {
    train_embedding_choice c = {.side = base->side,
                                .units = (uint32_t)formats_smaller(base->units, inputs),
                                .most_units = (uint32_t)formats_smaller(base->most_units, inputs),
                                .max_work = base->max_work,
                                .max_model = base->max_model,
                                .training = train_embedding_defaults()};
    c.training.validation_fraction = 0.0f;
    c.training.k = base->training.k;
    c.training.balanced = base->training.balanced;
    c.training.binary = base->training.binary;
    c.training.threads = base->training.threads;
    c.training.seed = base->training.seed;
    if (c.training
            .binary) { /* with few steps, bits are better trained as numbers for half of them */
        c.training.prefixes = train_prefix_halves(c.units);
        c.training.numbers_first = 0.5;
    }
    return c;
}

int train_embedding_same_recipe(const train_embedding_choice *a, const uint32_t *a_width,
                                const train_embedding_choice *b, const uint32_t *b_width) {
    const train_embedding_options *p = &a->training, *q = &b->training;
    return a->n_hidden == b->n_hidden && a->convolutions == b->convolutions &&
           !memcmp(a->channels, b->channels, sizeof a->channels) && a->units == b->units &&
           !memcmp(a_width, b_width, a->n_hidden * sizeof *a_width) && a->motion == b->motion &&
           a->mirrors == b->mirrors && a->cells == b->cells &&
           p->noise.dropout == q->noise.dropout && p->rate == q->rate &&
           a->objective == b->objective && p->numbers_first == q->numbers_first &&
           !p->epochs == !q->epochs;
}
