/* semi.c -- see semi.h. */
#include "bench/paper-embedding/semi.h"
#include "bench/figures/sections.h"
#include "bench/paper-embedding/records.h"
#include "bench/paper-embedding/tables.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

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

/* --- guesses for those without a label ---------------------------------------------------- */

enum { DRAWS = 10 };

/* Mean and deviation over the draws that have run, which are seeds. */
static embedding_figure over_draws(const embedding *e, const char *variant, uint32_t dims) {
    embedding_figure f = {.of = DRAWS};
    double sum = 0.0, squares = 0.0;
    for (uint32_t seed = 1; seed <= DRAWS; seed++) {
        const embedding_cell cell = embedding_cell_of("mnist", "dt-mcml", variant, dims, 0, seed);
        embedding_record r;
        if (!embedding_record_read(e, &cell, &r)) continue;
        f.runs++, sum += r.error[2], squares += r.error[2] * r.error[2];
    }
    if (f.runs) f.error = sum / (double)f.runs;
    if (f.runs > 1) f.deviation = sqrt(fmax(squares - sum * f.error, 0.0) / (double)(f.runs - 1));
    return f;
}

static void put_guesses(const embedding *e, FILE *to) {
    static const struct {
        const char *label, *variant, *ladder;
    } row[] = {{"100 labels", "d-1-guessed-of-100", "1.0"},
               {"1,000 labels", "d-1-guessed-of-1000", "0.97"}};
    static const char *const head[] = {"dt-MCML, 30 units", "5-NN, %", "draws", "ladder network"};
    char text[ROWS(row)][3][32];
    const char *at[ROWS(row) * ROWS(head)];
    size_t rows = 0;
    for (size_t n = 0; n < ROWS(row); n++) {
        const embedding_figure f = over_draws(e, row[n].variant, 30);
        const size_t i = rows;
        if (!f.runs) continue;
        rows++;
        snprintf(text[i][0], 32, "%.2f +- %.2f", f.error, f.deviation);
        snprintf(text[i][1], 32, "%zu", f.runs);
        at[i * 4] = row[n].label, at[i * 4 + 1] = text[i][0], at[i * 4 + 2] = text[i][1];
        at[i * 4 + 3] = row[n].ladder;
    }
    if (!rows) return;
    cli_page_heading(to, "Not the papers': few labels, the other images by a guess");
    cli_page_note(to, "Ten or a hundred labelled images of each class, drawn by the seed; the rest "
                      "of the 60,000 have none. Mean and deviation over draws; neighbours are "
                      "looked for among the labelled images alone. The ladder network (Pezeshki et "
                      "al. 2016) is a classifier, without neighbours.");
    cli_page_put_table(
        to, &(cli_page_table){.columns = ROWS(head), .rows = rows, .head = head, .cell = at});
}

static void put_taught(const embedding *e, FILE *to) {
    static const embedding_published rows[] = {
        {"a teacher's layers first", "mnist", "dt-log-nca", "d-1-taught", 30, 0.0, 0.0},
        {"RBMs first, under noise", "mnist", "dt-log-nca", "d-1-noise", 30, 0.0, 0.0}};
    cli_page_heading(to, "Not the papers': all labels, by log NCA, error of 5-NN in %");
    cli_page_note(
        to, "30 units, Student's kernel. A teacher is a network that names classes, learned "
            "from labels and by virtual adversarial training (Miyato et al. 2018): its hidden "
            "layers are where the embedding begins, instead of layers that learned to make "
            "the images again. Under noise a fifth of the pixels and 0.3 of the hidden units "
            "are left out in every step.");
    embedding_put_table(e, to, rows, ROWS(rows));
}

/* Drawn when the cell is learned (sweep.h). */
static void put_sweep(const embedding *e, const embedding_cell *cell, FILE *to) {
    char stem[96];
    snprintf(stem, sizeof stem, "%s-sweep", cell->name);
    char *path = figures_path(e->figures.out, "%s.svg", stem);
    if (access(path, R_OK) == 0) {
        cli_page_note(to, "Figure 6 of the paper: test images, what their whole code gives back, "
                          "and what it gives while one unit goes through its range. Eight rows "
                          "for some of the 20 other units: the class should stay, the look "
                          "change. Eight rows for some of the 30 units of the classes.");
        figures_section_svg(&e->figures, to, stem, "reconstructions while one unit changes");
    }
    free(path);
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
    put_sweep(e, &cell, to);
}

void embedding_put_semi(const embedding *e, FILE *to) {
    put_few(e, to);
    put_guesses(e, to);
    put_taught(e, to);
    put_split(e, to);
}
