/* fig5b.c -- figure 5b: error on the test set against code length, for all methods. */
#include "bench/paper/fig5.h"
#include "bench/paper/obd.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OBD_ROWS = 10000, OBD_REPEATED_ROWS = 2000 };
static const uint32_t asked[] = {16, 64, 128, 256, 512, 1024};
enum { ASKED = sizeof asked / sizeof *asked };

static paper_method *add(paper_methods *m, const char *name, const char *variant, const char *title,
                         const char *settings) {
    if (m->n == PAPER_MAX_METHODS) paper_die("too many methods");
    paper_method *to = &m->method[m->n++];
    *to = (paper_method){name, variant, title, NULL, {0}};
    char *copy = paper_memory(strlen(settings) + 1, 1);
    memcpy(copy, settings, strlen(settings));
    to->settings = copy;
    return to;
}

static void take(paper_method *to, const paper_curve *curve) {
    to->rates.n = curve->n;
    for (size_t i = 0; i < curve->n; i++)
        to->rates.bits[i] = curve->length[i], to->rates.mse[i] = curve->mse[i];
}

static void add_network(paper *p, paper_methods *m, paper_network *network, const char *name,
                        const char *variant, const char *title) {
    paper_curve curve;
    paper_lengths(&curve, network->net.units, 0);
    paper_measure(p, network, &p->test, &curve);
    take(add(m, name, variant, title, network->settings), &curve);
}

static void add_orderings(paper *p, paper_methods *m, paper_network *network) {
    size_t units = network->net.units;
    uint32_t *once = paper_memory(units, sizeof *once), *again = paper_memory(units, sizeof *again),
             *back = paper_memory(units, sizeof *back);
    add_network(p, m, network, "plain", "", "standard autoencoder, plain truncation");
    paper_obd_order(p, network, &p->training, OBD_ROWS, 0, once);
    paper_obd_order(p, network, &p->training, OBD_REPEATED_ROWS, 1, again);
    paper_renumber(network, once);
    add_network(p, m, network, "obd", "", "the same, Optimal Brain Damage");
    for (uint32_t k = 0; k < units; k++) back[once[k]] = k;
    for (uint32_t k = 0; k < units; k++) once[k] = back[again[k]];
    paper_renumber(network, once);
    add_network(p, m, network, "obd", "measured anew after each removal",
                "the same, measured anew after each unit");
    free(once), free(again), free(back);
}

static void add_networks(paper *p, paper_methods *m) {
    paper_network network;
    paper_train(p, "nested", RECIPE_NESTED, NULL, &network);
    add_network(p, m, &network, "nested", "", "nested dropout");
    paper_network_free(&network);
    paper_train(p, "standard", RECIPE_BINARY, NULL, &network);
    add_orderings(p, m, &network);
    paper_network_free(&network);
    paper_train(p, "nested-paper", RECIPE_PAPER_FORM, NULL, &network);
    add_network(p, m, &network, "nested", "the paper's form", "nested dropout, the paper's form");
    paper_network_free(&network);
}

static void add_others(paper *p, paper_methods *m) {
    paper_curve curve;
    uint32_t units = 1024 < p->training.inputs ? 1024 : p->training.inputs;
    paper_lengths(&curve, units, 0);
    paper_pca_signs(p, units, &curve);
    take(add(m, "pca", "signs", "PCA, one bit a component", ""), &curve);
    paper_method *payload = add(m, "taper", "payload", "taper pca, cut, payload", ""),
                 *file = add(m, "taper", "file", "taper pca, cut, all bytes", "");
    paper_container(p, units, &curve, &payload->rates, &file->rates);
    payload = add(m, "jpeg", "payload", "JPEG, payload", "");
    file = add(m, "jpeg", "file", "JPEG, file", "");
    paper_jpeg(p, &payload->rates, &file->rates);
}

/* NAN where the method has no such length. */
static double value_at(const paper_rates *r, double bits) {
    for (size_t i = 0; i < r->n; i++) {
        if (r->bits[i] == bits) return r->mse[i];
        if (r->bits[i] > bits && !i) return NAN;
        if (r->bits[i] < bits) continue;
        double part = log(bits / r->bits[i - 1]) / log(r->bits[i] / r->bits[i - 1]);
        return exp(log(r->mse[i - 1]) + part * log(r->mse[i] / r->mse[i - 1]));
    }
    return NAN;
}

static void print_method(paper *p, const paper_method *m) {
    for (size_t i = 0; i < m->rates.n; i++)
        paper_print(p, "nested-dropout/fig5b", "mse", m->rates.mse[i], "8-bit^2",
                    "\"method\":\"%s\",\"bits\":%.0f,\"variant\":\"%s\",\"settings\":\"%s\"",
                    m->name, m->rates.bits[i], m->variant, m->settings);
}

static const paper_rates *rates_of(const paper_methods *m, const char *name) {
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->method[i].name, name)) return &m->method[i].rates;
    paper_die("no method %s", name);
}

static void print_ratios(paper *p, const paper_methods *m) {
    const paper_rates *nested = rates_of(m, "nested"), *plain = rates_of(m, "plain"),
                      *obd = rates_of(m, "obd");
    for (int i = 0; i < ASKED; i++) {
        double at = value_at(nested, asked[i]);
        if (!isfinite(at)) continue;
        paper_print(p, "nested-dropout/fig5b", "mse of plain truncation to that of nested dropout",
                    value_at(plain, asked[i]) / at, "", "\"bits\":%u", asked[i]);
        paper_print(p, "nested-dropout/fig5b", "mse of OBD to that of nested dropout",
                    value_at(obd, asked[i]) / at, "", "\"bits\":%u", asked[i]);
    }
}

static void put_table(FILE *to, const paper_methods *m) {
    enum { COLUMNS = ASKED + 1 };
    char head[ASKED][24], cell[PAPER_MAX_METHODS][ASKED][24];
    const char *heads[COLUMNS] = {"mean squared error at"}, *at[PAPER_MAX_METHODS * COLUMNS];
    bool strong[PAPER_MAX_METHODS] = {true};
    for (int j = 0; j < ASKED; j++) {
        snprintf(head[j], sizeof head[j], "%u bits", asked[j]);
        heads[j + 1] = head[j];
    }
    for (size_t i = 0; i < m->n; i++) {
        at[i * COLUMNS] = m->method[i].title;
        for (int j = 0; j < ASKED; j++) {
            double mse = value_at(&m->method[i].rates, asked[j]);
            snprintf(cell[i][j], sizeof cell[i][j], "%.1f", mse);
            at[i * COLUMNS + (size_t)j + 1] = isfinite(mse) ? cell[i][j] : NULL;
        }
    }
    cli_page_put_table(to, &(cli_page_table){COLUMNS, m->n, heads, at, 1, strong});
}

/* From SHORTEST bits on; without the codec's file accounting, which its payload hides. */
static void plot(paper *p, const paper_methods *m) {
    enum { SHORTEST = 8 };
    paper_line line[PAPER_MAX_METHODS];
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const paper_rates *r = &m->method[i].rates;
        size_t first = 0;
        if (!strcmp(m->method[i].name, "taper") && !strcmp(m->method[i].variant, "file")) continue;
        while (first < r->n && r->bits[first] < SHORTEST) first++;
        line[n++] = (paper_line){m->method[i].title, r->bits + first, r->mse + first, r->n - first};
    }
    paper_plot(p, "fig5b", "Reconstruction error against code length, test set", "bits an image",
               "mean squared error (8-bit scale)", PAPER_LOG_X | PAPER_LOG_Y, line, n);
}

static void put_page(paper *p, const paper_methods *m) {
    FILE *to = paper_section(
        p, "fig5b", "Figure 5b: error against code length",
        "ordered codes stay below Optimal Brain Damage, which stays below plain truncation of the "
        "standard autoencoder, and all meet at full length; JPEG begins far to the right, as its "
        "headers and its assumptions do not suit images of 32 x 32.");
    paper_section_svg(p, to, "fig5b", "error against bits for all methods");
    put_table(to, m);
    cli_page_note(to, "Lengths between points are interpolated. Payload leaves out what a set "
                      "shares or a header holds; the model's own bytes are counted nowhere. "
                      "The codec's container is entropy-coded, unlike the one-bit codes, and its "
                      "pixels and JPEG's are rounded and clamped, those of the networks are not.");
    cli_page_note(to, m->method[0].settings);
    paper_section_end(to);
}

void paper_part_fig5b(paper *p) {
    paper_methods *m = paper_memory(1, sizeof *m);
    paper_load(p);
    add_networks(p, m);
    add_others(p, m);
    for (size_t i = 0; i < m->n; i++) print_method(p, &m->method[i]);
    print_ratios(p, m);
    plot(p, m);
    put_page(p, m);
    for (size_t i = 0; i < m->n; i++) {
        union {
            const char *text;
            void *memory;
        } settings = {.text = m->method[i].settings};
        free(settings.memory);
    }
    free(m);
}
