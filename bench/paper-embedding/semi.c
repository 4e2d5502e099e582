/* semi.c -- see semi.h. */
#include "bench/paper-embedding/semi.h"
#include "bench/figures/sections.h"
#include "bench/paper-embedding/records.h"
#include "bench/paper-embedding/tables.h"
#include "cli/common/page.h"

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

/* --- few labels ------------------------------------------------------------------------ */

enum { FEWS = 3 };
static const char *const fews[FEWS] = {"1", "5", "10"};

static embedding_figure few(const embedding *e, const char *percent, const char *how) {
    char variant[32];
    snprintf(variant, sizeof variant, "few%s%s", percent, how);
    return embedding_figure_of(e, "mnist", "dg-nca", variant, 30);
}

static void put_verdict_of_few(const embedding *e, FILE *to) {
    char text[300];
    int both = 0, runs = 0;
    for (size_t i = 0; i < FEWS; i++) {
        const embedding_figure joint = few(e, fews[i], "-regularised"), nca = few(e, fews[i], ""),
                               autoencoder = few(e, fews[i], "-autoencoder");
        if (!joint.runs || !nca.runs || !autoencoder.runs) continue;
        runs++;
        both += joint.error < nca.error && joint.error < autoencoder.error;
    }
    if (e->quick || !runs) return;
    snprintf(text, sizeof text,
             "Verdict: both together are below either alone at %d of %d shares of labels.", both,
             runs);
    cli_page_text(to, text);
}

static void put_few(const embedding *e, FILE *to) {
    static const embedding_published rows[] = {
        {"1 %: NCA", "mnist", "dg-nca", "few1", 30, 0.0, 0.0},
        {"1 %: the autoencoder", "mnist", "dg-nca", "few1-autoencoder", 30, 0.0, 0.0},
        {"1 %: both", "mnist", "dg-nca", "few1-regularised", 30, 0.0, 0.0},
        {"5 %: NCA", "mnist", "dg-nca", "few5", 30, 0.0, 0.0},
        {"5 %: the autoencoder", "mnist", "dg-nca", "few5-autoencoder", 30, 0.0, 0.0},
        {"5 %: both", "mnist", "dg-nca", "few5-regularised", 30, 0.0, 0.0},
        {"10 %: NCA", "mnist", "dg-nca", "few10", 30, 0.0, 0.0},
        {"10 %: the autoencoder", "mnist", "dg-nca", "few10-autoencoder", 30, 0.0, 0.0},
        {"10 %: both", "mnist", "dg-nca", "few10-regularised", 30, 0.0, 0.0}};
    cli_page_heading(to, "Nonlinear NCA, figure 5: few labels, error of 5-NN in %");
    cli_page_note(to, "The paper: of MNIST's 60,000 images 1, 5 or 10 % have their label; both "
                      "objectives together are better than nonlinear NCA alone (pretrained by all "
                      "images) and than the autoencoder alone. It shows curves, without numbers. "
                      "Here neighbours are looked for among the labelled images alone.");
    embedding_put_table(e, to, rows, ROWS(rows));
    put_verdict_of_few(e, to);
}

static void put_split(const embedding *e, FILE *to) {
    static const embedding_published rows[] = {
        {"nonlinear NCA, 30 + 20", "mnist", "dg-nca", "split", 50, 0.98, 0.0},
        {"the same by dt-NCA", "mnist", "dt-nca", "d-1-split", 50, 0.0, 0.0},
        {"dt-NCA, pixels and units left out in training", "mnist", "dt-nca", "d-1-noise", 30, 0.0,
         0.0}};
    cli_page_heading(to, "Nonlinear NCA, section 5.1: split codes, error of 5-NN in %");
    cli_page_note(to, "The paper: 30 units for the classes, 20 that only reconstruct: 1.00, 0.97, "
                      "0.98 and 0.97 % with 1, 3, 5 and 7 neighbours among the first 30.");
    embedding_put_table(e, to, rows, ROWS(rows));
    const embedding_cell cell = embedding_cell_of("mnist", "dt-nca", "d-1-split", 50, 0, e->seed);
    embedding_record r;
    char text[160];
    if (!embedding_record_read(e, &cell, &r) || !(r.free_error > 0.0)) return;
    snprintf(text, sizeof text,
             "By the 20 units that only reconstruct 3-NN errs on %.2f %%, the paper's on 4.3 %%.",
             r.free_error);
    cli_page_text(to, text);
}

/* --- nested codes ---------------------------------------------------------------------- */

enum { LENGTHS = 5, COLUMNS = 4 };
static const unsigned lengths[LENGTHS] = {2, 4, 8, 16, 30};

static double nested_error(const embedding *e, const char *method, unsigned dims) {
    char of_method[40], of_dims[24];
    double value = 0.0;
    snprintf(of_method, sizeof of_method, "\"method\":\"%s\"", method);
    snprintf(of_dims, sizeof of_dims, "\"dims\":%u,", dims);
    return embedding_find(e, "nested", &value, of_method, of_dims, NULL) ? value : 0.0;
}

static void put_nested(const embedding *e, FILE *to) {
    static const char *const head[COLUMNS] = {"numbers", "nested code", "a code of its own",
                                              "ratio"};
    char text[LENGTHS][COLUMNS][24];
    const char *at[LENGTHS * COLUMNS];
    double x[LENGTHS], nested[LENGTHS], own[LENGTHS];
    for (size_t i = 0; i < LENGTHS; i++) {
        x[i] = lengths[i];
        nested[i] = nested_error(e, "nested", lengths[i]);
        own[i] = nested_error(e, "own", lengths[i]);
        if (!(nested[i] > 0.0) || !(own[i] > 0.0)) return;
        snprintf(text[i][0], 24, "%u", lengths[i]);
        snprintf(text[i][1], 24, "%.2f", nested[i]);
        snprintf(text[i][2], 24, "%.2f", own[i]);
        snprintf(text[i][3], 24, "%.2f", nested[i] / own[i]);
        for (size_t c = 0; c < COLUMNS; c++) at[i * COLUMNS + c] = text[i][c];
    }
    cli_page_heading(to, "Nested codes: one model for every length, error of 5-NN in %");
    cli_page_note(to, "Not the papers': dt-NCA of MNIST over the first 2, 4, 8, 16 and all 30 "
                      "numbers at once, against a model for each length; images move in training, "
                      "no pretraining, one seed (bench/nested_units.sh). Of two numbers alone "
                      "dt-NCA does not part the classes from random weights.");
    cli_page_put_table(
        to, &(cli_page_table){.columns = COLUMNS, .rows = LENGTHS, .head = head, .cell = at});
    const figures_line line[] = {{"nested", x, nested, LENGTHS},
                                 {"models of their own", x, own, LENGTHS}};
    figures_plot(&e->figures, "nested", "MNIST, test set", "numbers of the code that are read",
                 "error of 5-NN, %", FIGURES_LOG_X | FIGURES_LOG_Y, line, ROWS(line));
    figures_section_svg(&e->figures, to, "nested", "error against the length of a code");
}

void embedding_put_semi(const embedding *e, FILE *to) {
    put_few(e, to);
    put_split(e, to);
    put_nested(e, to);
}
