/* adaptive.c -- section 4.2: regularisation with a coefficient for each unit, chosen at each step,
 * against one coefficient for all, from few images. Strengths are chosen on held-out images, means
 * over seeds; all are reported, and each side's grid has its best inside.
 *
 * A strength near 0 is no regularisation in either way, and the two then agree. So they are also
 * compared where they regularise alike: at the same mean magnitude of the rows Omega_k. */
#include "bench/paper/kinds.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const trial_of[] = {RECIPE_FIXED_STRENGTHS, RECIPE_ADAPTIVE_STRENGTHS, "none"};
enum { TRIALS = sizeof trial_of / sizeof *trial_of, NONE = -1 };

typedef struct trial {
    const char *regulariser;
    char settings[640];
    int adaptive;          /* 0, 1 or NONE */
    double held_out, test; /* error at full length; these and all below: means over seeds */
    double of_seed[PAPER_MAX_SEEDS]; /* test */
    double weight, ratio; /* mean |Omega_ki| of all rows; of the last quarter to the first */
    paper_curve curve;    /* on the test set */
} trial;

static double mean_magnitude(paper_network *network, uint32_t first, uint32_t end) {
    const train_nested_layer *code = &network->net.layer[network->net.shape.layers - 1];
    size_t n = (size_t)(end - first) * code->inputs;
    float *rows = paper_fetch(network, code->w + (size_t)first * code->inputs, n);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += fabs((double)rows[i]);
    free(rows);
    return sum / (double)n;
}

static void add_seed(paper *p, const char *regulariser, uint32_t seed, double share, trial *t,
                     double *of_seed) {
    char settings[320], name[64];
    paper_network network;
    paper_curve held_out = {.n = 1}, test;
    snprintf(settings, sizeof settings, "%s regulariser=%s seed=%u", RECIPE_REGULARISED,
             regulariser, seed);
    snprintf(name, sizeof name, "regularised-%s-%u", regulariser, seed);
    for (char *c = name; *c; c++)
        if (*c == ':') *c = '-';
    paper_train(p, name, settings, NULL, &network);
    const train_regulariser *asked = &network.options.regulariser;
    t->adaptive = asked->kind == TRAIN_PENALTY_NONE ? NONE : asked->adaptive;
    memcpy(t->settings, network.settings, sizeof t->settings);
    held_out.length[0] = network.net.units;
    paper_lengths(&test, network.net.units, 0);
    paper_measure(p, &network, &p->held_out, &held_out);
    paper_measure(p, &network, &p->test, &test);
    *of_seed = test.mse[test.n - 1];
    t->held_out += share * held_out.mse[0], t->test += share * *of_seed;
    t->curve.n = test.n;
    for (size_t i = 0; i < test.n; i++) {
        t->curve.length[i] = test.length[i], t->curve.mse[i] += share * test.mse[i];
        figures_print(&p->figures, "nested-dropout/adaptive", "mse", test.mse[i], "8-bit^2",
                      "\"bits\":%u,\"regulariser\":\"%s\",\"seed\":%u,\"settings\":\"%s\"",
                      test.length[i], regulariser, seed, network.settings);
    }
    uint32_t quarter = network.net.units / 4;
    t->weight += share * mean_magnitude(&network, 0, network.net.units);
    t->ratio += share * mean_magnitude(&network, 3 * quarter, network.net.units) /
                mean_magnitude(&network, 0, quarter);
    paper_network_free(&network);
}

static void run_trial(paper *p, const char *regulariser, trial *t) {
    const paper_selection selected = paper_selected(p);
    *t = (trial){.regulariser = regulariser};
    for (size_t i = 0; i < selected.seeds; i++)
        add_seed(p, regulariser, selected.seed[i], 1.0 / (double)selected.seeds, t, &t->of_seed[i]);
}

static const trial *best_of(const trial *t, int adaptive) {
    const trial *best = NULL;
    for (int i = 0; i < TRIALS; i++)
        if (t[i].adaptive == adaptive && (!best || t[i].held_out < best->held_out)) best = &t[i];
    if (!best) figures_die("no trial of one kind of regularisation");
    return best;
}

/* Error at full length of the adaptive trials where their weights are as small as `weight`, between
 * trials linear in the weights; NAN outside them. */
static double adaptive_at(const trial *t, double weight) {
    for (int i = 0; i < TRIALS; i++)
        for (int j = 0; j < TRIALS; j++) {
            if (t[i].adaptive != 1 || t[j].adaptive == 0 || t[j].weight <= t[i].weight) continue;
            int neighbours = weight >= t[i].weight && weight <= t[j].weight;
            for (int k = 0; k < TRIALS; k++)
                if (t[k].adaptive && t[k].weight > t[i].weight && t[k].weight < t[j].weight)
                    neighbours = 0;
            if (!neighbours) continue;
            double part = (weight - t[i].weight) / (t[j].weight - t[i].weight);
            return t[i].test + part * (t[j].test - t[i].test);
        }
    return NAN;
}

static void print_matches(paper *p, const trial *t) {
    for (int i = 0; i < TRIALS; i++) {
        double matched = t[i].adaptive == 0 ? adaptive_at(t, t[i].weight) : NAN;
        if (!isfinite(matched)) continue;
        figures_print(&p->figures, "nested-dropout/adaptive", "mse lower at equal mean weight",
                      100.0 * (1.0 - matched / t[i].test), "%",
                      "\"bits\":%u,\"fixed\":\"%s\",\"mean_weight\":%.6g",
                      t[i].curve.length[t[i].curve.n - 1], t[i].regulariser, t[i].weight);
    }
}

static void print_trials(paper *p, const trial *t, const trial *best[2]) {
    for (int i = 0; i < TRIALS; i++) {
        figures_print(&p->figures, "nested-dropout/adaptive", "mse on held-out images",
                      t[i].held_out, "8-bit^2",
                      "\"bits\":%u,\"regulariser\":\"%s\",\"mean_weight\":%.6g,\"settings\":\"%s\"",
                      t[i].curve.length[t[i].curve.n - 1], t[i].regulariser, t[i].weight,
                      t[i].settings);
    }
    const paper_selection selected = paper_selected(p);
    double sum = 0.0, squares = 0.0, n = (double)selected.seeds;
    for (size_t i = 0; i < selected.seeds; i++) {
        double lower = 100.0 * (1.0 - best[1]->of_seed[i] / best[0]->of_seed[i]);
        sum += lower, squares += lower * lower;
        figures_print(&p->figures, "nested-dropout/adaptive",
                      "mse lower with adaptive coefficients", lower, "%",
                      "\"bits\":%u,\"adaptive\":\"%s\",\"fixed\":\"%s\",\"seed\":%u",
                      best[0]->curve.length[best[0]->curve.n - 1], best[1]->regulariser,
                      best[0]->regulariser, selected.seed[i]);
    }
    figures_print(&p->figures, "nested-dropout/adaptive",
                  "mse lower with adaptive coefficients, mean", sum / n, "%",
                  "\"adaptive\":\"%s\",\"fixed\":\"%s\",\"seeds\":%zu,\"spread\":%.3g",
                  best[1]->regulariser, best[0]->regulariser, selected.seeds,
                  sqrt(fmax(squares - sum * sum / n, 0.0) / fmax(n - 1.0, 1.0)));
}

static void plot(paper *p, const trial *t, const trial *best[2]) {
    double *x = figures_memory(PAPER_MAX_LENGTHS, sizeof *x);
    char name[TRIALS][64];
    figures_line line[TRIALS];
    size_t n = 0;
    for (size_t i = 0; i < t[0].curve.n; i++) x[i] = t[0].curve.length[i];
    for (int pass = 0; pass < 2; pass++) /* the chosen ones first */
        for (int i = 0; i < TRIALS; i++) {
            int chosen = &t[i] == best[0] || &t[i] == best[1];
            if (chosen == pass) continue;
            snprintf(name[n], sizeof name[n], "%s%s", t[i].regulariser, chosen ? " (chosen)" : "");
            line[n] = (figures_line){name[n], x, t[i].curve.mse, t[i].curve.n};
            n++;
        }
    figures_plot(&p->figures, "adaptive", "Adaptive and fixed regularisation, test set",
                 "bits kept", "mean squared error (8-bit scale)", FIGURES_LOG_X | FIGURES_LOG_Y,
                 line, n);
    free(x);
}

/* Error at full length against how small the weights were made. */
static void plot_weights(paper *p, const trial *t) {
    double x[2][TRIALS], y[2][TRIALS];
    figures_line line[2] = {{"adaptive", x[1], y[1], 0}, {"fixed", x[0], y[0], 0}};
    for (int i = 0; i < TRIALS; i++)
        for (int adaptive = 0; adaptive < 2; adaptive++) {
            if (t[i].adaptive == !adaptive) continue; /* without regularisation: on both lines */
            size_t at = line[!adaptive].n++;
            for (; at > 0 && x[adaptive][at - 1] > t[i].weight; at--)
                x[adaptive][at] = x[adaptive][at - 1], y[adaptive][at] = y[adaptive][at - 1];
            x[adaptive][at] = t[i].weight, y[adaptive][at] = t[i].test;
        }
    figures_plot(&p->figures, "adaptive-weights",
                 "Adaptive and fixed regularisation at full length, test set",
                 "mean magnitude of a weight of the code layer", "mean squared error (8-bit scale)",
                 FIGURES_LOG_X, line, 2);
}

static void put_page(paper *p, const trial *t, const trial *best[2]) {
    FILE *to = paper_section(
        p, "adaptive", "Section 4.2: adaptive regularisation",
        "gradients fade with the index of a unit, so that one coefficient for all would rule the "
        "late ones; coefficients that keep the ratio of the two gradients constant do not. No "
        "figure is given.");
    figures_section_svg(&p->figures, to, "adaptive", "error against bits for each regularisation");
    figures_section_svg(&p->figures, to, "adaptive-weights",
                        "error against the mean magnitude of weights");
    enum { COLUMNS = 6 };
    char cell[TRIALS][COLUMNS][48];
    const char *head[] = {"regulariser",   "held-out, all bits",      "test, all bits",
                          "test, 64 bits", "mean magnitude of Omega", "its last quarter to first"},
               *at[TRIALS * COLUMNS];
    bool strong[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        snprintf(cell[i][0], 48, "%s", t[i].regulariser);
        snprintf(cell[i][1], 48, "%.2f", t[i].held_out);
        snprintf(cell[i][2], 48, "%.2f", t[i].test);
        snprintf(cell[i][3], 48, "%.2f", paper_at(&t[i].curve, 64));
        snprintf(cell[i][4], 48, "%.5f", t[i].weight);
        snprintf(cell[i][5], 48, "%.3f", t[i].ratio);
        for (int j = 0; j < COLUMNS; j++) at[COLUMNS * i + j] = cell[i][j];
        strong[i] = &t[i] == best[0] || &t[i] == best[1];
    }
    cli_page_put_table(to, &(cli_page_table){.columns = COLUMNS,
                                             .rows = TRIALS,
                                             .head = head,
                                             .cell = at,
                                             .text_columns = 1,
                                             .strong = strong});
    cli_page_note(to, t[0].settings);
    figures_section_end(to);
}

void paper_part_adaptive(paper *p) {
    trial *t = figures_memory(TRIALS, sizeof *t);
    const trial *best[2];
    for (int i = 0; i < TRIALS; i++) run_trial(p, trial_of[i], &t[i]);
    for (int adaptive = 0; adaptive < 2; adaptive++) best[adaptive] = best_of(t, adaptive);
    print_trials(p, t, best);
    print_matches(p, t);
    plot(p, t, best);
    plot_weights(p, t);
    put_page(p, t, best);
    free(t);
}
