/* fig5b.c -- figure 5b: error on the test set against code length, for all methods: means over
 * seeds of what baselines.h has, the codecs, and the paper's own form. */
#include "bench/paper/baselines.h"
#include "bench/paper/codecs.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 40, MAX_DRAWN = 12 };
static const uint32_t asked[] = {16, 32, 64, 128, 256, 512, 1024};
enum { ASKED = sizeof asked / sizeof *asked };

/* A row of the table, maybe a line of the figure. */
typedef struct fig5_row {
    char title[96], config[700]; /* config: inside of the JSON lines' {...} */
    int drawn;
    size_t seeds;
    paper_rates rates;
    double spread[PAPER_MAX_LENGTHS];
} fig5_row;

typedef struct fig5_rows {
    size_t n;
    fig5_row row[MAX_ROWS];
} fig5_rows;

static fig5_row *add(fig5_rows *rows, int drawn, const char *title) {
    if (rows->n == MAX_ROWS) figures_die("too many methods");
    fig5_row *to = &rows->row[rows->n++];
    to->drawn = drawn;
    snprintf(to->title, sizeof to->title, "%s", title);
    return to;
}

/* --- what is held against each other --------------------------------------------------- */

static const paper_result *find(const paper_results *r, paper_method method,
                                const paper_kind *kind) {
    for (size_t i = 0; i < r->n; i++)
        if (r->result[i].method == method && (!kind || !strcmp(r->result[i].kind.name, kind->name)))
            return &r->result[i];
    return NULL;
}

static void add_method(fig5_rows *rows, const paper_results *r, paper_method method,
                       const paper_kind *kind, int drawn, const char *title) {
    const paper_result *first = find(r, method, kind);
    if (!first) return;
    char full[96];
    snprintf(full, sizeof full, "%s%s%s", title, kind ? ", " : "", kind ? kind->name : "");
    fig5_row *to = add(rows, drawn, full);
    for (size_t i = 0; i < first->curve.n; i++) {
        paper_spread s = paper_error_of(r, method, kind, first->curve.length[i]);
        to->rates.bits[i] = first->curve.length[i], to->rates.mse[i] = s.mean;
        to->spread[i] = s.spread, to->seeds = s.count;
    }
    to->rates.n = first->curve.n;
    snprintf(to->config, sizeof to->config,
             "\"method\":\"%s\",\"decoder\":\"%s\",\"units\":\"%s\",\"settings\":\"%s\"",
             paper_method_name[method], kind && kind->tied ? "tied" : "untied",
             kind && kind->feedback ? "feedback" : "independent", first->settings);
}

static void add_kinds(fig5_rows *rows, const paper_results *r) {
    static const char *const title[] = {"nested",
                                        "standard, cut",
                                        "standard, OBD, cut",
                                        "standard, OBD, refitted",
                                        "standard, best order, refitted",
                                        "one network a length"};
    for (size_t k = 0; k < r->selection.kinds; k++) {
        const paper_kind *kind = &r->selection.kind[k];
        for (int m = PAPER_NESTED; m <= PAPER_DEDICATED; m++) {
            int drawn = m == PAPER_NESTED || (!kind->tied && m == PAPER_REFIT) ||
                        (!k && (m == PAPER_PLAIN || m == PAPER_DEDICATED));
            add_method(rows, r, (paper_method)m, kind, drawn, title[m]);
        }
    }
    add_method(rows, r, PAPER_PCA_SIGNS, NULL, 1, "PCA signs, refitted");
    add_method(rows, r, PAPER_ITQ, NULL, 1, "ITQ, refitted");
}

static void add_papers_form(paper *p, fig5_rows *rows) {
    paper_network network;
    paper_curve curve;
    fig5_row *to = add(rows, 0, "nested, the paper's form");
    paper_train(p, "nested-paper", RECIPE_PAPER_FORM, NULL, &network);
    paper_lengths(&curve, network.net.units, 0);
    paper_measure(p, &network, &p->test, &curve);
    for (size_t i = 0; i < curve.n; i++)
        to->rates.bits[i] = curve.length[i], to->rates.mse[i] = curve.mse[i];
    to->rates.n = curve.n, to->seeds = 1;
    snprintf(to->config, sizeof to->config,
             "\"method\":\"nested, the paper's form\",\"decoder\":\"tied\","
             "\"units\":\"independent\",\"seed\":1,\"settings\":\"%.200s\"",
             network.settings);
    paper_network_free(&network);
}

static void add_codecs(paper *p, fig5_rows *rows) {
    static const char *const config[] = {
        "\"method\":\"taper\",\"variant\":\"payload\"", "\"method\":\"taper\",\"variant\":\"file\"",
        "\"method\":\"jpeg\",\"variant\":\"payload\"", "\"method\":\"jpeg\",\"variant\":\"file\""};
    paper_curve curve;
    paper_lengths(&curve, 1024, 0);
    fig5_row *to[4] = {add(rows, 1, "taper pca, cut, payload"),
                       add(rows, 0, "taper pca, cut, all bytes"), add(rows, 1, "JPEG, payload"),
                       add(rows, 1, "JPEG, file")};
    for (int i = 0; i < 4; i++) snprintf(to[i]->config, sizeof to[i]->config, "%s", config[i]);
    paper_container(p, 1024, &curve, &to[0]->rates, &to[1]->rates);
    paper_jpeg(p, &to[2]->rates, &to[3]->rates);
}

/* --- figure and page ------------------------------------------------------------------- */

static void print_row(paper *p, const fig5_row *row) {
    for (size_t i = 0; i < row->rates.n; i++) {
        char of_seeds[80] = "";
        if (row->seeds > 1)
            snprintf(of_seeds, sizeof of_seeds,
                     ",\"seed\":\"%s\",\"spread\":%.3f,\"spread_is\":\"max - min\"", p->seeds,
                     row->spread[i]);
        figures_print(&p->figures, "nested-dropout/fig5b", "mse", row->rates.mse[i], "8-bit^2",
                      "%s,\"bits\":%.0f%s", row->config, row->rates.bits[i], of_seeds);
    }
}

/* "MEAN (SPREAD)" where the method has the length, interpolated where it has those around it;
 * nothing elsewhere. */
static int put_cell(const fig5_row *row, double bits, char *cell, size_t size) {
    const paper_rates *r = &row->rates;
    for (size_t i = 0; i < r->n; i++) {
        if (r->bits[i] < bits) continue;
        if (r->bits[i] == bits && row->seeds > 1)
            return snprintf(cell, size, "%.1f (%.1f)", r->mse[i], row->spread[i]);
        if (r->bits[i] == bits) return snprintf(cell, size, "%.1f", r->mse[i]);
        if (!i) return 0;
        double part = log(bits / r->bits[i - 1]) / log(r->bits[i] / r->bits[i - 1]);
        return snprintf(cell, size, "%.1f",
                        exp(log(r->mse[i - 1]) + part * log(r->mse[i] / r->mse[i - 1])));
    }
    return 0;
}

static void put_table(FILE *to, const fig5_rows *rows) {
    enum { COLUMNS = ASKED + 1 };
    char head[ASKED][24], cell[MAX_ROWS][ASKED][40];
    const char *heads[COLUMNS] = {"mean squared error at"}, *at[MAX_ROWS * COLUMNS];
    bool strong[MAX_ROWS] = {false};
    for (int j = 0; j < ASKED; j++) {
        snprintf(head[j], sizeof head[j], "%u bits", asked[j]);
        heads[j + 1] = head[j];
    }
    for (size_t i = 0; i < rows->n; i++) {
        strong[i] = !strncmp(rows->row[i].title, "nested", 6);
        at[i * COLUMNS] = rows->row[i].title;
        for (int j = 0; j < ASKED; j++) {
            int some = put_cell(&rows->row[i], asked[j], cell[i][j], sizeof cell[i][j]);
            at[i * COLUMNS + (size_t)j + 1] = some ? cell[i][j] : NULL;
        }
    }
    cli_page_put_table(to, &(cli_page_table){.columns = COLUMNS,
                                             .rows = rows->n,
                                             .head = heads,
                                             .cell = at,
                                             .text_columns = 1,
                                             .strong = strong});
}

/* From SHORTEST bits on. */
static void plot(paper *p, const fig5_rows *rows) {
    enum { SHORTEST = 8 };
    figures_line line[MAX_DRAWN];
    size_t n = 0;
    for (size_t i = 0; i < rows->n && n < MAX_DRAWN; i++) {
        const paper_rates *r = &rows->row[i].rates;
        size_t first = 0;
        if (!rows->row[i].drawn) continue;
        while (first < r->n && r->bits[first] < SHORTEST) first++;
        line[n++] =
            (figures_line){rows->row[i].title, r->bits + first, r->mse + first, r->n - first};
    }
    figures_plot(&p->figures, "fig5b", "Reconstruction error against code length, test set",
                 "bits an image", "mean squared error (8-bit scale)", FIGURES_LOG_X | FIGURES_LOG_Y,
                 line, n);
}

static void put_page(paper *p, const fig5_rows *rows) {
    FILE *to = paper_section(
        p, "fig5b", "Figure 5b: error against code length",
        "ordered codes stay below Optimal Brain Damage, which stays below plain truncation of the "
        "standard autoencoder, and all meet at full length; JPEG begins far to the right, as its "
        "headers and its assumptions do not suit images of 32 x 32.");
    figures_section_svg(&p->figures, to, "fig5b", "error against bits for all methods");
    put_table(to, rows);
    cli_page_note(
        to, "Standard: an autoencoder of the same kind, steps and parameters, its code cut "
            "as it is or by Optimal Brain Damage; refitted: with the best linear decoder "
            "for each length. Means over seeds; in brackets the largest less the smallest of them. "
            "Lengths between points are interpolated. Payload leaves out what a set "
            "shares or a header holds; the model's own bytes are counted nowhere. "
            "The codec's container is entropy-coded, unlike the one-bit codes, and its "
            "pixels and JPEG's are rounded and clamped, those of the networks are not.");
    cli_page_note(to, RECIPE_CODE "; truncation and rate are those of bench/paper/kinds.c");
    figures_section_end(to);
}

void paper_part_fig5b(paper *p) {
    fig5_rows *rows = figures_memory(1, sizeof *rows);
    paper_results *results = paper_baselines(p);
    add_kinds(rows, results);
    add_papers_form(p, rows);
    add_codecs(p, rows);
    for (size_t i = 0; i < rows->n; i++) print_row(p, &rows->row[i]);
    plot(p, rows);
    put_page(p, rows);
    free(results), free(rows);
}
