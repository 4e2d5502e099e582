/* receivers.c -- see receivers.h. */
#include "bench/paper/receivers.h"
#include "bench/paper/kept.h"
#include "bench/paper/populations.h"
#include "bench/paper/recipes.h"
#include "bench/paper/rungs.h"

enum { UNITS = PAPER_RECEIVER_UNITS, GRID = 10 };
static const uint32_t grid[GRID] = {1, 2, 4, 8, 12, 16, 24, 32, 48, UNITS};
const char *const paper_populations[PAPER_POPULATIONS] = {"ladder:8=.9,64=.1", "ladder:8=.1,64=.9",
                                                          "log-normal:12", "log-normal:40"};

/* Error of the mean image, which is what a receiver of no bits shows. */
static double error_of_nothing(const paper *p) {
    double sum = 0.0;
    const paper_images *t = &p->test;
    for (size_t i = 0; i < t->n * t->inputs; i++) {
        double c = (double)t->pixels[i] - (double)p->mean[i % t->inputs];
        sum += c * c;
    }
    return sum / ((double)t->n * t->inputs);
}

typedef struct learning {
    paper *p;
    const paper_kind *kind;
    uint32_t seed;
} learning;

/* Errors at the curve's lengths of a network of its longest; truncation NULL: standard. */
static void learn(const learning *l, const char *name, const char *truncation, paper_curve *curve) {
    uint32_t units = curve->length[curve->n - 1];
    char settings[320], file[64];
    paper_network network;
    paper_kind_settings(l->kind, RECIPE_RECEIVERS, units, truncation, l->seed, settings);
    snprintf(file, sizeof file, "%s-%u-%u", name, units, l->seed);
    if (paper_curve_read(l->p, file, settings, curve)) return;
    paper_train_kind(l->p, name, l->kind, RECIPE_RECEIVERS, units, truncation, l->seed, &network);
    paper_measure(l->p, &network, &l->p->test, curve);
    paper_curve_write(l->p, file, settings, curve);
    paper_network_free(&network);
}

/* error[1 .. 64] of a network of 64 units. */
static void learn_all_lengths(const learning *l, const char *name, const char *truncation,
                              double *error) {
    paper_curve curve = {.n = UNITS};
    for (uint32_t b = 1; b <= UNITS; b++) curve.length[b - 1] = b;
    learn(l, name, truncation, &curve);
    for (uint32_t b = 1; b <= UNITS; b++) error[b] = curve.mse[b - 1];
}

static void learn_grid(const learning *l, double nothing, const double *standard, double *error) {
    uint32_t length[GRID + 1] = {0};
    double at[GRID + 1] = {nothing};
    for (size_t i = 0; i < GRID; i++) {
        paper_curve one = {.n = 1, .length = {grid[i]}};
        length[i + 1] = grid[i], at[i + 1] = standard[UNITS];
        if (grid[i] == UNITS) continue;
        learn(l, "one-length", NULL, &one);
        at[i + 1] = one.mse[0];
    }
    paper_interpolate_errors(length, at, GRID + 1, error);
}

static double expected(const train_truncation *population, const double *error) {
    double sum = 0.0;
    for (uint32_t b = 1; b <= UNITS; b++) sum += population->mass[b - 1] * error[b];
    return sum;
}

static void serve_one(const learning *l, const train_truncation *population, int q,
                      paper_service *out) {
    double error[UNITS + 1], *at = out->expected[q];
    for (int w = 0; w < PAPER_WAYS; w++)
        if (w != PAPER_GEOMETRIC && w != PAPER_RUNG)
            at[w] = expected(&population[q], out->error[w]);
    snprintf(out->geometric[q], sizeof out->geometric[q], "geometric:%.4f",
             paper_geometric_of_mean(paper_mean_length(&population[q]), UNITS));
    learn_all_lengths(l, "equal-mean", out->geometric[q], error);
    at[PAPER_GEOMETRIC] = expected(&population[q], error);
    at[PAPER_RUNG] = paper_place_rungs(population[q].mass, out->error[PAPER_EACH_LENGTH], UNITS,
                                       PAPER_RUNGS, out->rung[q], &out->rungs[q]);
    if (!(at[PAPER_RUNG] >= 0.0)) figures_die("no memory for rungs");
}

void paper_serve(paper *p, const train_truncation *population, const paper_kind *kind,
                 uint32_t seed, paper_service *out) {
    learning l = {p, kind, seed};
    double nothing = error_of_nothing(p);
    *out = (paper_service){.rungs = {0}};
    for (int w = 0; w < PAPER_POPULATIONS; w++)
        learn_all_lengths(&l, "receivers", paper_populations[w], out->error[w]);
    learn_all_lengths(&l, "one-length", NULL, out->error[PAPER_CUT]);
    learn_grid(&l, nothing, out->error[PAPER_CUT], out->error[PAPER_EACH_LENGTH]);
    for (int w = 0; w < PAPER_WAYS; w++) out->error[w][0] = nothing;
    for (int q = 0; q < PAPER_POPULATIONS; q++) serve_one(&l, population, q, out);
}
