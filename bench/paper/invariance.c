/* invariance.c -- section 4.4: bits that flip when an image hardly changes, and what it costs in
 * squared error to have fewer of them (equation 14). */
#include "bench/paper/kinds.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 2000 };
static const double weight_of[] = {INVARIANCE_WEIGHTS};
enum { WEIGHTS = sizeof weight_of / sizeof *weight_of };

typedef struct outcome {
    double mse, flips; /* at full length, and the share of all bits; test set, means over seeds */
    double spread;     /* of mse: standard deviation over seeds */
    char settings[640];
} outcome;

/* Images with noise of the variance that training takes, in units of the data's own, rounded to
 * bytes. */
static uint8_t *disturb(const paper *p, const train_pixels *rows, double variance) {
    enum { STREAM = 1 << 22 };
    size_t n = rows->n * rows->inputs;
    uint8_t *to = figures_memory(n, 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(1, i, STREAM, word);
        double radius = sqrt(-2.0 * log(1.0 - (double)train_philox_uniform(word[0]))),
               normal = radius * cos(6.283185307179586 * (double)train_philox_uniform(word[1]));
        double y = rows->pixels[i] + sqrt(variance) * (double)p->scale * normal;
        to[i] = (uint8_t)lrint(fmin(fmax(y, 0.0), 255.0));
    }
    return to;
}

static double share_of_flips(paper *p, paper_network *network) {
    train_pixels rows = paper_rows(&p->test, IMAGES), near = rows;
    size_t n = rows.n * network->net.units, flips = 0;
    uint8_t *noisy = disturb(p, &rows, (double)network->options.perturbation);
    float *x = figures_memory(n, sizeof *x), *y = figures_memory(n, sizeof *y);
    near.pixels = noisy;
    paper_codes(network, &rows, x);
    paper_codes(network, &near, y);
    for (size_t i = 0; i < n; i++) flips += x[i] != y[i];
    free(noisy), free(x), free(y);
    return (double)flips / (double)n;
}

static void run_weight(paper *p, double weight, outcome *o) {
    const paper_selection selected = paper_selected(p);
    const double n = (double)selected.seeds;
    double squares = 0.0;
    *o = (outcome){.mse = 0.0};
    for (size_t i = 0; i < selected.seeds; i++) {
        const int seed = (int)selected.seed[i];
        char settings[320], name[64];
        paper_network network;
        paper_curve curve = {.n = 1};
        snprintf(settings, sizeof settings, "%s invariance=%g seed=%d", RECIPE_INVARIANT, weight,
                 seed);
        snprintf(name, sizeof name, "invariance-%g-%d", weight, seed);
        paper_train(p, name, settings, NULL, &network);
        curve.length[0] = network.net.units;
        paper_measure(p, &network, &p->test, &curve);
        double flips = share_of_flips(p, &network);
        figures_print(&p->figures, "nested-dropout/invariance", "mse", curve.mse[0], "8-bit^2",
                      "\"invariance\":%g,\"bits\":%u,\"seed\":%d,\"settings\":\"%s\"", weight,
                      network.net.units, seed, network.settings);
        figures_print(&p->figures, "nested-dropout/invariance", "bits that flip", 100.0 * flips,
                      "%", "\"invariance\":%g,\"bits\":%u,\"seed\":%d,\"settings\":\"%s\"", weight,
                      network.net.units, seed, network.settings);
        o->mse += curve.mse[0] / n, squares += curve.mse[0] * curve.mse[0] / n;
        o->flips += flips / n;
        if (!i) memcpy(o->settings, network.settings, sizeof o->settings);
        paper_network_free(&network);
    }
    o->spread = sqrt(fmax(squares - o->mse * o->mse, 0.0) * n / fmax(n - 1.0, 1.0));
}

static void put_page(paper *p, const outcome *o) {
    FILE *to = paper_section(
        p, "invariance", "Section 4.4: code invariance",
        "retrieval is better when alike images have alike codes, which a term of the loss asks for "
        "(equation 14). No figure is given.");
    char cell[WEIGHTS][3][32];
    const char *head[] = {"weight", "error at full length", "bits that flip"}, *at[3 * WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++) {
        snprintf(cell[i][0], 32, "%g", weight_of[i]);
        snprintf(cell[i][1], 32, "%.1f +- %.1f", o[i].mse, o[i].spread);
        snprintf(cell[i][2], 32, "%.2f %%", 100.0 * o[i].flips);
        for (int j = 0; j < 3; j++) at[3 * i + j] = cell[i][j];
    }
    cli_page_put_table(
        to, &(cli_page_table){
                .columns = 3, .rows = WEIGHTS, .head = head, .cell = at, .text_columns = 0});
    cli_page_note(to, o[0].settings);
    cli_page_note(to, "Means over seeds, with their standard deviation, and 2,000 test images, "
                      "against the same images with "
                      "noise of a hundredth of the data's variance. Binary units are compared by "
                      "their margins relative to themselves, so that a smaller encoder is no "
                      "better.");
    figures_section_end(to);
}

void paper_part_invariance(paper *p) {
    outcome o[WEIGHTS];
    double x[WEIGHTS], y[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++) {
        run_weight(p, weight_of[i], &o[i]);
        x[i] = 100.0 * o[i].flips, y[i] = o[i].mse;
    }
    figures_line line = {"weights of equation 14", x, y, WEIGHTS};
    figures_plot(&p->figures, "invariance", "Bits that flip, and squared error, test set",
                 "bits that flip under noise, %", "mean squared error (8-bit scale)", 0, &line, 1);
    put_page(p, o);
}
