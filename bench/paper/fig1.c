/* fig1.c -- figure 1: the filters of a binarised 3072-100-3072 autoencoder at rho 0.9, with and
 * without unit sweeping, and what sweeping is worth. */
#include "bench/figures/drawing.h"
#include "bench/paper/kinds.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include "bench/paper/sweep_cost.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 10, GAP = 1, ZOOM = 2, TOP = 9 };

/* Of seeds: mean, standard deviation. */
typedef struct figure {
    size_t n;
    double sum, squares, mean, spread;
} figure;

/* Row k of W on the 8-bit scale: 128 is 0, the farthest of its values 0 or 255. */
static void filter_to_bytes(const float *w, size_t n, uint8_t *to) {
    float most = 1e-20f;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(w[i]));
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)lrintf(127.5f + 127.5f * w[i] / most);
}

static void draw_filters(paper *p, paper_network *network, const char *stem, const char *title) {
    const paper_images *images = &p->training;
    uint32_t cell = images->side + GAP;
    uint8_t *bytes = figures_memory(images->inputs, 1);
    float *filters =
        paper_fetch(network, network->net.layer[0].w, (size_t)network->net.units * images->inputs);
    figures_drawing d;
    figures_draw_begin(&d, SIDES * cell + GAP, SIDES * cell + GAP + TOP, ZOOM);
    figures_draw_word(&d, 2, 14, 9, title);
    for (uint32_t k = 0; k < network->net.units && k < SIDES * SIDES; k++) {
        filter_to_bytes(filters + (size_t)k * images->inputs, images->inputs, bytes);
        figures_draw_image(&d, GAP + k % SIDES * cell, TOP + k / SIDES * cell, bytes, images->side,
                           images->channels);
    }
    free(bytes), free(filters);
    figures_draw_end(&p->figures, &d, stem, title);
}

static void plot_errors(paper *p, const paper_curve curve[2]) {
    double *x = figures_memory(PAPER_MAX_LENGTHS, sizeof *x);
    for (size_t i = 0; i < curve[0].n; i++) x[i] = curve[0].length[i];
    figures_line line[] = {{"with unit sweeping", x, curve[0].mse, curve[0].n},
                           {"without", x, curve[1].mse, curve[1].n}};
    figures_plot(&p->figures, "fig1-error", "Binary 3072-100-3072, geometric:0.9, test set",
                 "bits kept", "mean squared error (8-bit scale)", 0, line, 2);
    free(x);
}

/* The unit being swept against epochs, and what a step costs against units frozen. */
static void plot_sweep(paper *p, const paper_network *network, const paper_sweep_cost *cost) {
    uint32_t n = network->epochs;
    double *epoch = figures_memory((size_t)2 * n, sizeof *epoch), *frozen = epoch + n;
    for (uint32_t e = 0; e < n; e++) {
        epoch[e] = e + 1;
        frozen[e] = network->log[e].entry.frozen;
    }
    figures_line swept[] = {{"units frozen", epoch, frozen, n}},
                 spent[] = {
                     {"left out", cost->frozen, cost->milliseconds[1], cost->n},
                     {"computed all the same", cost->frozen, cost->milliseconds[0], cost->n}};
    figures_plot(&p->figures, "fig1-swept", "Unit sweeping: which unit is being swept", "epoch",
                 "units frozen at the end of the epoch", 0, swept, 1);
    figures_plot(&p->figures, "fig1-cost",
                 "A gradient of 1,000 images with frozen units' gradients", "units frozen",
                 "milliseconds", 0, spent, 2);
    free(epoch);
}

static void print_cost(paper *p, const paper_sweep_cost *cost) {
    for (size_t i = 0; i < cost->n; i++)
        for (int left_out = 0; left_out < 2; left_out++) {
            const char *of = left_out ? "true" : "false";
            figures_print(&p->figures, "nested-dropout/sweeping", "gradient of 1,000 images",
                          cost->milliseconds[left_out][i], "ms",
                          "\"frozen\":%.0f,\"left_out\":%s,\"threads\":%u,\"repeats\":15,"
                          "\"quartiles\":[%.4g,%.4g]",
                          cost->frozen[i], of, p->threads, cost->quartile[left_out][0][i],
                          cost->quartile[left_out][1][i]);
            figures_print(&p->figures, "nested-dropout/sweeping", "multiply_adds of a step",
                          cost->multiply_adds[left_out][i], "million per image",
                          "\"frozen\":%.0f,\"left_out\":%s", cost->frozen[i], of);
        }
}

static double mean_of_log(const paper_network *network, int seconds) {
    double sum = 0.0;
    for (uint32_t e = 0; e < network->epochs; e++)
        sum += seconds ? network->log[e].step_seconds : network->log[e].entry.multiply_adds;
    return sum / network->epochs;
}

/* A network of one seed. */
static void print_network(paper *p, const char *with, uint32_t seed, const paper_network *network,
                          const paper_curve *curve) {
    const char *how = network->settings;
    double step = mean_of_log(network, 1);
    for (size_t j = 0; j < curve->n; j++)
        figures_print(&p->figures, "nested-dropout/fig1", "mse", curve->mse[j], "8-bit^2",
                      "\"sweeping\":\"%s\",\"bits\":%u,\"seed\":%u,\"settings\":\"%s\"", with,
                      curve->length[j], seed, how);
    figures_print(&p->figures, "nested-dropout/sweeping", "mse", curve->mse[curve->n - 1],
                  "8-bit^2", "\"sweeping\":\"%s\",\"bits\":%u,\"seed\":%u,\"settings\":\"%s\"",
                  with, network->net.units, seed, how);
    figures_print(&p->figures, "nested-dropout/sweeping", "multiply_adds",
                  mean_of_log(network, 0) * 1e-6, "million per image and step",
                  "\"sweeping\":\"%s\",\"seed\":%u,\"settings\":\"%s\"", with, seed, how);
    if (step > 0.0)
        figures_print(&p->figures, "nested-dropout/sweeping", "rows", network->options.batch / step,
                      "images/s in training", "\"sweeping\":\"%s\",\"seed\":%u,\"settings\":\"%s\"",
                      with, seed, how);
}

static void put_page(paper *p, const paper_network network[2], const paper_curve curve[2],
                     const figure *gain) {
    FILE *to = paper_section(
        p, "fig1", "Figure 1: filters, and unit sweeping",
        "a hundred filters of a binarised 3072-100-3072 network at rho 0.9. Without sweeping the "
        "later half stays close to noise, as it is hardly ever drawn (below one in two hundred "
        "beyond unit 50); with sweeping structure is found down to the last units. No error is "
        "given.");
    figures_section_svg(&p->figures, to, "fig1-without",
                        "100 filters learned without unit sweeping");
    figures_section_svg(&p->figures, to, "fig1-with", "100 filters learned with unit sweeping");
    char cell[3][4][32];
    const char *head[] = {"", "error at b = 100", "million multiply-adds", "images/s"}, *at[8];
    for (int i = 0; i < 2; i++) {
        double step = mean_of_log(&network[i], 1);
        snprintf(cell[i][0], 32, "%s", i ? "without sweeping" : "with sweeping");
        snprintf(cell[i][1], 32, "%.1f", curve[i].mse[curve[i].n - 1]);
        snprintf(cell[i][2], 32, "%.2f", mean_of_log(&network[i], 0) * 1e-6);
        snprintf(cell[i][3], 32, "%.0f", step > 0 ? network[i].options.batch / step : 0.0);
        for (int j = 0; j < 4; j++) at[4 * i + j] = cell[i][j];
    }
    cli_page_put_table(
        to,
        &(cli_page_table){.columns = 4, .rows = 2, .head = head, .cell = at, .text_columns = 1});
    cli_page_note(to, network[0].settings);
    figures_section_svg(&p->figures, to, "fig1-error",
                        "error against bits kept, with and without sweeping");
    figures_section_svg(&p->figures, to, "fig1-swept", "units frozen against epochs");
    figures_section_svg(&p->figures, to, "fig1-cost", "time of a gradient against units frozen");
    char said[200];
    snprintf(said, sizeof said,
             "All 100 bits: %.1f %% lower with sweeping, the same schedule of rates on either side "
             "(%zu seeds, standard deviation %.1f).",
             gain->mean, gain->n, gain->spread);
    cli_page_note(to, said);
    cli_page_note(to, "Sweeping draws longer truncations than plain training, so that a step of it "
                      "is no shorter than one without sweeping; the last plot takes the same rows "
                      "and truncations and only leaves out what is frozen.");
    figures_section_end(to);
}

/* One seed: trained, measured, printed; *lower: by how many percent sweeping lowers the error of
 * all bits. The caller's to free. */
static void run_seed(paper *p, uint32_t seed, paper_network network[2], paper_curve curve[2],
                     double *lower) {
    static const char *const with[2] = {"with", "without"};
    for (int i = 0; i < 2; i++) {
        char settings[200], name[64];
        snprintf(settings, sizeof settings, "%s%s seed=%u", RECIPE_FIG1, i ? "" : " sweep=1", seed);
        snprintf(name, sizeof name, "fig1-%s-%u", with[i], seed);
        paper_train(p, name, settings, NULL, &network[i]);
        paper_lengths(&curve[i], network[i].net.units, 0);
        paper_measure(p, &network[i], &p->test, &curve[i]);
        print_network(p, with[i], seed, &network[i], &curve[i]);
    }
    const size_t all = curve[0].n - 1;
    *lower = 100.0 * (1.0 - curve[0].mse[all] / curve[1].mse[all]);
    figures_print(&p->figures, "nested-dropout/sweeping", "mse lower with sweeping", *lower, "%",
                  "\"bits\":%u,\"seed\":%u", network[0].net.units, seed);
}

static void add_figure(figure *f, double x) {
    f->n++, f->sum += x, f->squares += x * x;
    f->mean = f->sum / (double)f->n;
    double variance = f->squares - f->sum * f->mean;
    f->spread = f->n > 1 ? sqrt(fmax(variance, 0.0) / (double)(f->n - 1)) : 0.0;
}

/* Pictures are of the first seed. */
void paper_part_fig1(paper *p) {
    const paper_selection selected = paper_selected(p);
    paper_network network[2], other[2];
    paper_curve curve[2], other_curve[2];
    paper_sweep_cost cost;
    figure gain = {0};
    for (size_t i = 0; i < selected.seeds; i++) {
        double lower;
        run_seed(p, selected.seed[i], i ? other : network, i ? other_curve : curve, &lower);
        add_figure(&gain, lower);
        for (int j = 0; j < 2 && i; j++) paper_network_free(&other[j]);
    }
    figures_print(&p->figures, "nested-dropout/sweeping", "mse lower with sweeping, mean",
                  gain.mean, "%", "\"bits\":%u,\"seeds\":%zu,\"spread\":%.3g", network[0].net.units,
                  gain.n, gain.spread);
    draw_filters(p, &network[0], "fig1-with", "with unit sweeping");
    draw_filters(p, &network[1], "fig1-without", "without unit sweeping");
    plot_errors(p, curve);
    paper_measure_sweep(p, &network[0], &cost);
    plot_sweep(p, &network[0], &cost);
    print_cost(p, &cost);
    put_page(p, network, curve, &gain);
    for (int i = 0; i < 2; i++) paper_network_free(&network[i]);
}
