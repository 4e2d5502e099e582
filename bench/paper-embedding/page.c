/* page.c -- the page: what the papers have beside what is here, made of records and pictures. */
#include "bench/figures/sections.h"
#include "bench/paper-embedding/nested.h"
#include "bench/paper-embedding/preset.h"
#include "bench/paper-embedding/semi.h"
#include "bench/paper-embedding/tables.h"
#include "cli/common/page.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

/* --- dt-embedding ---------------------------------------------------------------------- */

static const embedding_published table_1[] = {
    {"MCML", "usps", "mcml", "", 2, 35.63, 0.44},
    {"dG-MCML", "usps", "dg-mcml", "", 2, 3.37, 0.18},
    {"dt-MCML, alpha = d - 1", "usps", "dt-mcml", "d-1", 2, 2.46, 0.35},
    {"dt-MCML, learned alpha", "usps", "dt-mcml", "learned", 2, 2.80, 0.36},
    {"dG-NCA", "usps", "dg-nca", "", 2, 10.22, 0.76},
    {"dt-NCA, alpha = d - 1", "usps", "dt-nca", "d-1", 2, 5.11, 0.28},
    {"dt-NCA, learned alpha", "usps", "dt-nca", "learned", 2, 6.69, 0.92},
    {"MCML", "usps", "mcml", "", 30, 5.53, 0.39},
    {"dG-MCML", "usps", "dg-mcml", "", 30, 1.67, 0.21},
    {"dt-MCML, alpha = d - 1", "usps", "dt-mcml", "d-1", 30, 1.73, 0.47},
    {"dt-MCML, learned alpha", "usps", "dt-mcml", "learned", 30, 1.61, 0.36},
    {"dG-NCA", "usps", "dg-nca", "", 30, 1.91, 0.22},
    {"dt-NCA, alpha = d - 1", "usps", "dt-nca", "d-1", 30, 1.15, 0.21},
    {"dt-NCA, learned alpha", "usps", "dt-nca", "learned", 30, 1.17, 0.07},
    {"dt-NCA, images moved", "usps", "dt-nca", "d-1-moved", 30, 0.0, 0.0},
};

static const embedding_published table_2[] = {
    {"dG-MCML", "mnist", "dg-mcml", "", 2, 2.13, 0.0},
    {"dt-MCML, alpha = d - 1", "mnist", "dt-mcml", "d-1", 2, 2.03, 0.0},
    {"dt-MCML, learned alpha", "mnist", "dt-mcml", "learned", 2, 2.14, 0.0},
    {"dt-MCML, images moved", "mnist", "dt-mcml", "d-1-moved", 2, 0.0, 0.0},
    {"dG-NCA", "mnist", "dg-nca", "", 2, 7.95, 0.0},
    {"dt-NCA, alpha = d - 1", "mnist", "dt-nca", "d-1", 2, 3.48, 0.0},
    {"dt-NCA, learned alpha", "mnist", "dt-nca", "learned", 2, 3.79, 0.0},
    {"dG-MCML", "mnist", "dg-mcml", "", 30, 1.49, 0.0},
    {"dt-MCML, alpha = d - 1", "mnist", "dt-mcml", "d-1", 30, 1.63, 0.0},
    {"dt-MCML, learned alpha", "mnist", "dt-mcml", "learned", 30, 1.49, 0.0},
    {"dG-NCA", "mnist", "dg-nca", "", 30, 1.11, 0.0},
    {"dt-NCA, alpha = d - 1", "mnist", "dt-nca", "d-1", 30, 0.92, 0.0},
    {"dt-NCA, learned alpha", "mnist", "dt-nca", "learned", 30, 0.93, 0.0},
    {"dt-NCA, images moved", "mnist", "dt-nca", "d-1-moved", 30, 0.0, 0.0},
};

static const embedding_published order_2[] = {
    {"dt-MCML", "mnist", "dt-mcml", "d-1", 2, 2.03, 0.0},
    {"dt-NCA", "mnist", "dt-nca", "d-1", 2, 3.48, 0.0},
    {"dG-NCA", "mnist", "dg-nca", "", 2, 7.95, 0.0},
};
static const embedding_published order_30[] = {
    {"dt-NCA", "mnist", "dt-nca", "d-1", 30, 0.92, 0.0},
    {"dG-NCA", "mnist", "dg-nca", "", 30, 1.11, 0.0},
    {"dt-MCML", "mnist", "dt-mcml", "d-1", 30, 1.63, 0.0},
};

/* Section 3.2 has the paper's figures here; the last four are not made by this program. */
static const embedding_published rivals[] = {
    {"linear NCA, from random weights", "mnist", "linear-nca", "random", 2, 56.84, 0.0},
    {"linear NCA, from principal components", "mnist", "linear-nca", "pca", 2, 56.84, 0.0},
    {"dt-MCML, alpha = d - 1", "mnist", "dt-mcml", "d-1", 2, 2.03, 0.0},
    {"principal components", "mnist", "pca", "", 2, 0.0, 0.0},
    {"linear discriminants", "mnist", "lda", "", 2, 0.0, 0.0},
    {"autoencoder", "mnist", NULL, NULL, 2, 24.7, 0.0},
    {"parametric t-SNE, alpha = 1", "mnist", NULL, NULL, 2, 9.9, 0.0},
    {"parametric t-SNE, learned alpha", "mnist", NULL, NULL, 2, 12.68, 0.0},
    {"DNet-kNN", "mnist", NULL, NULL, 2, 2.65, 0.0},
};

/* says: "The paper: ..." */
static void begin(FILE *to, const char *heading, const char *says) {
    cli_page_heading(to, heading);
    cli_page_note(to, says);
}

/* Pictures of cells of two numbers side by side, or what stands for one that was not run. */
static void put_panels(const embedding *e, FILE *to, const embedding_cell *cell, size_t cells) {
    cli_page_beside_begin(to);
    for (size_t i = 0; i < cells; i++) {
        char *path = figures_path(e->figures.out, "%s.svg", cell[i].name), text[200];
        embedding_record r;
        if (embedding_record_read(e, &cell[i], &r))
            snprintf(text, sizeof text, "%s: %s.svg is not here; its error is in %s.jsonl",
                     cell[i].name, cell[i].name, cell[i].set);
        else
            snprintf(text, sizeof text, "%s was not run: PARTS=%s CELLS='%s' make paper-embedding",
                     cell[i].name, cell[i].set, cell[i].name);
        if (access(path, R_OK) == 0)
            figures_section_svg(&e->figures, to, cell[i].name, cell[i].name);
        else
            cli_page_note(to, text);
        free(path);
    }
    cli_page_beside_end(to);
}

/* Whether Student's kernel parts classes better than the Gaussian, as the error of 5-NN has it. */
static void put_verdict_of_kernels(const embedding *e, FILE *to, const char *set) {
    embedding_figure mcml[2] = {embedding_figure_of(e, set, "dg-mcml", "", 2),
                                embedding_figure_of(e, set, "dt-mcml", "d-1", 2)},
                     nca[2] = {embedding_figure_of(e, set, "dg-nca", "", 2),
                               embedding_figure_of(e, set, "dt-nca", "d-1", 2)};
    char text[300];
    if (e->quick || !mcml[0].runs || !mcml[1].runs || !nca[0].runs || !nca[1].runs) return;
    int better = (mcml[1].error < mcml[0].error) + (nca[1].error < nca[0].error);
    snprintf(text, sizeof text,
             "Verdict, by the error of 5-NN: dG-MCML %.2f %%, dt-MCML %.2f %%, dG-NCA %.2f %%, "
             "dt-NCA %.2f %%: Student's kernel parts classes better with %s, in the paper with "
             "both.",
             mcml[0].error, mcml[1].error, nca[0].error, nca[1].error,
             better == 2   ? "both objectives"
             : better == 0 ? "neither objective"
                           : "one objective");
    cli_page_text(to, text);
}

static void put_four(const embedding *e, FILE *to, const char *set, uint32_t split) {
    embedding_cell cell[] = {embedding_cell_of(set, "dg-mcml", "", 2, split, e->seed),
                             embedding_cell_of(set, "dt-mcml", "d-1", 2, split, e->seed),
                             embedding_cell_of(set, "dg-nca", "", 2, split, e->seed),
                             embedding_cell_of(set, "dt-nca", "d-1", 2, split, e->seed)};
    put_panels(e, to, cell, ROWS(cell));
    put_verdict_of_kernels(e, to, set);
}

static void put_deep(const embedding *e, FILE *to) {
    begin(to, "Deep t-distributed embedding, table 1: USPS, error of 5-NN in %",
          "The paper: six random splits of 11,000 images, 8,000 to learn from and 3,000 to test, "
          "mean and "
          "deviation. Here: six seeded splits of the 9,298 images that are to be had, 7,291 and "
          "2,007, so that some error more is to be expected.");
    embedding_put_table(e, to, table_1, ROWS(table_1));
    begin(to, "Table 2: MNIST, error of 5-NN in %",
          "The paper: the standard 60,000 and 10,000 images, one run each. Here with the 95 % "
          "interval of a "
          "run on as many test images.");
    embedding_put_table(e, to, table_2, ROWS(table_2));
    embedding_put_order(e, to, order_2, ROWS(order_2));
    embedding_put_order(e, to, order_30, ROWS(order_30));
    begin(to, "Section 3.2: rivals in two numbers, MNIST",
          "The paper: linear NCA 56.84 %, an autoencoder 24.7 %, parametric t-SNE with alpha 1 9.9 "
          "% and with "
          "learned alpha 12.68 %, DNet-kNN 2.65 %; dt-MCML 2.03 %. Of these, this program has "
          "linear NCA and dt-MCML; the others are not made again.");
    embedding_put_table(e, to, rivals, ROWS(rivals));
    begin(to, "Figure 2: test images of USPS in two numbers",
          "The paper: dt-MCML keeps one tight cluster a class with wide gaps, dt-NCA leaves gaps "
          "too but puts "
          "a class at several places, dG-MCML and dG-NCA let classes overlap. (Its order: dG-MCML, "
          "dt-MCML, dG-NCA, dt-NCA; so here, of split 1.)");
    put_four(e, to, "usps", 1);
    begin(to, "Figure 3: test images of MNIST in two numbers",
          "The paper: as figure 2: large separations with Student's kernel, overlaps of many "
          "classes with the "
          "Gaussian one.");
    put_four(e, to, "mnist", 0);
}

/* --- nonlinear NCA --------------------------------------------------------------------- */

enum { BY_K_ROWS = 4, BY_K_COLUMNS = 3 + EMBEDDING_KS };

static void fill_by_k(const embedding *e, const embedding_cell *cell, char at[][24]) {
    embedding_record r;
    snprintf(at[0], 24, "here");
    snprintf(at[1], 24, "%u", cell->dims);
    int there = embedding_record_read(e, cell, &r);
    for (size_t i = 0; i < EMBEDDING_KS; i++)
        snprintf(at[2 + i], 24, there ? "%.2f" : "not run", r.error[i]);
    snprintf(at[2 + EMBEDDING_KS], 24, there ? "%.2f to %.2f" : "", r.low[2], r.high[2]);
}

static void put_by_k(const embedding *e, FILE *to) {
    static const char *const head[] = {"",      "",      "d",     "k = 1",
                                       "k = 3", "k = 5", "k = 7", "95 % at k = 5"};
    static const char *const paper[] = {"nonlinear NCA", "paper", "30",   "1.08",
                                        "1.00",          "1.03",  "1.01", ""};
    enum { COLUMNS = BY_K_COLUMNS + 1 };
    const embedding_cell cell[] = {
        embedding_cell_of("mnist", "dg-nca", "", 30, 0, e->seed),
        embedding_cell_of("mnist", "linear-nca", "pca", 32, 0, e->seed),
        embedding_cell_of("mnist", "linear-nca", "random", 32, 0, e->seed),
        embedding_cell_of("mnist", "pca", "", 30, 0, e->seed)};
    static const char *const label[] = {"nonlinear NCA", "linear NCA, from components",
                                        "linear NCA, from random weights", "principal components"};
    char text[BY_K_ROWS][BY_K_COLUMNS][24];
    const char *at[(BY_K_ROWS + 1) * COLUMNS];
    memcpy(at, paper, sizeof paper);
    for (size_t i = 0; i < BY_K_ROWS; i++) {
        fill_by_k(e, &cell[i], text[i]);
        at[(i + 1) * COLUMNS] = label[i];
        for (size_t c = 0; c < BY_K_COLUMNS; c++) at[(i + 1) * COLUMNS + 1 + c] = text[i][c];
    }
    cli_page_put_table(to, &(cli_page_table){.columns = COLUMNS,
                                             .rows = BY_K_ROWS + 1,
                                             .head = head,
                                             .cell = at,
                                             .text_columns = 2});
}

static void put_verdict_by_k(const embedding *e, FILE *to) {
    static const double paper[EMBEDDING_KS] = {1.08, 1.00, 1.03, 1.01};
    embedding_cell cell = embedding_cell_of("mnist", "dg-nca", "", 30, 0, e->seed);
    embedding_record r;
    int within = 0, below = 0;
    char text[200];
    if (e->quick || !embedding_record_read(e, &cell, &r)) return;
    for (size_t i = 0; i < EMBEDDING_KS; i++) {
        within += paper[i] >= r.low[i] && paper[i] <= r.high[i];
        below += r.high[i] < paper[i];
    }
    snprintf(
        text, sizeof text,
        "Verdict: the paper's errors lie within the 95 %% interval at %d of 4 k, better at %d, "
        "worse at %d.",
        within, below, EMBEDDING_KS - within - below);
    cli_page_text(to, text);
}

/* Of the pictures, as the error of 5-NN has it. */
static void put_verdict_of_pictures(const embedding *e, FILE *to) {
    embedding_figure deep = embedding_figure_of(e, "mnist", "dg-nca", "", 2),
                     linear = embedding_figure_of(e, "mnist", "linear-nca", "random", 2),
                     lda = embedding_figure_of(e, "mnist", "lda", "", 2),
                     pca = embedding_figure_of(e, "mnist", "pca", "", 2);
    char text[300];
    if (e->quick || !deep.runs || !linear.runs || !lda.runs || !pca.runs) return;
    int parts = deep.high < linear.low && deep.high < lda.low && deep.high < pca.low;
    snprintf(text, sizeof text,
             "Verdict on the pictures, by the error of 5-NN in two numbers: nonlinear NCA %.2f %%, "
             "linear NCA %.2f %%, discriminants %.2f %%, components %.2f %%: %s.",
             deep.error, linear.error, lda.error, pca.error,
             parts ? "as in the paper, the network alone parts the classes"
                   : "not as in the paper");
    cli_page_text(to, text);
}

static void put_nonlinear(const embedding *e, FILE *to) {
    begin(to, "Nonlinear NCA, figure 4: MNIST",
          "The paper: errors of 1.08, 1.00, 1.03 and 1.01 % with 1, 3, 5 and 7 neighbours in 30 "
          "numbers; "
          "linear NCA and principal components are much worse. In two numbers the network parts "
          "the classes, and linear NCA, linear discriminants and principal components do not.");
    put_by_k(e, to);
    put_verdict_by_k(e, to);
    embedding_cell cell[] = {embedding_cell_of("mnist", "dg-nca", "", 2, 0, e->seed),
                             embedding_cell_of("mnist", "linear-nca", "random", 2, 0, e->seed),
                             embedding_cell_of("mnist", "lda", "", 2, 0, e->seed),
                             embedding_cell_of("mnist", "pca", "", 2, 0, e->seed)};
    put_panels(e, to, cell, ROWS(cell));
    put_verdict_of_pictures(e, to);
}

/* --- the guide ------------------------------------------------------------------------- */

static void put_circles(const embedding *e, FILE *to) {
    static const embedding_published rows[] = {
        {"NCA, from random weights", "circles", "linear-nca", "random", 2, 0.0, 0.0},
        {"principal components", "circles", "pca", "", 2, 0.0, 0.0},
        {"linear discriminants", "circles", "lda", "", 2, 0.0, 0.0},
        {"NCA, from principal components", "circles", "linear-nca", "pca", 2, 0.0, 0.0},
    };
    begin(to, "NCA, a guide: five concentric circles and a third number of noise",
          "The guide: NCA finds the plane of the circles; principal components keep the noise, "
          "whose variance "
          "is large; linear discriminants do not find it either, as the classes have one mean. No "
          "error is given.");
    embedding_put_table(e, to, rows, ROWS(rows));
    embedding_figure f[3];
    for (size_t i = 0; i < 3; i++)
        f[i] = embedding_figure_of(e, "circles", rows[i].method, rows[i].variant, 2);
    if (f[0].runs && f[1].runs && f[2].runs && !e->quick)
        cli_page_text(to, f[0].high < 0.5 * f[1].low && f[0].high < 0.5 * f[2].low
                              ? "Verdict: as in the guide: with NCA alone, from random weights, "
                                "are neighbours of one circle."
                              : "Verdict: not as in the guide.");
    embedding_cell cell[] = {embedding_cell_of("circles", "linear-nca", "random", 2, 0, e->seed),
                             embedding_cell_of("circles", "pca", "", 2, 0, e->seed),
                             embedding_cell_of("circles", "lda", "", 2, 0, e->seed)};
    put_panels(e, to, cell, ROWS(cell));
}

/* A figure of the guide's table as text; "not run" where there is none. */
static double put_figure(const embedding *e, const char *metric, int codes, const char *format,
                         char to[32]) {
    char text[64];
    double value = 0.0;
    snprintf(text, sizeof text, "\"metric\":\"%s\"", metric);
    int found = embedding_find(e, "speed", &value, "\"table\":\"guide\"", text,
                               codes ? "\"dims\":32," : "\"method\":\"pixels\"", NULL);
    if (found)
        snprintf(to, 32, format, value);
    else
        snprintf(to, 32, "not run");
    return value;
}

static void put_verdict_of_speed(const embedding *e, FILE *to) {
    char unused[32], text[400];
    double pixels = put_figure(e, "test_error_percent", 0, "%f", unused),
           codes = put_figure(e, "test_error_percent", 1, "%f", unused),
           seconds = put_figure(e, "seconds", 0, "%f", unused),
           faster = put_figure(e, "times_faster", 1, "%f", unused);
    if (e->quick || !(faster > 0.0)) return;
    snprintf(text, sizeof text,
             "Verdict: storage as in the guide; the error of codes is %s that of pixels (there it "
             "is above); codes are %.0f times as fast, not 66: a search in pixels, which that is "
             "beside, takes %.1f s here, and 155 s there.",
             codes < pixels ? "below" : "above", faster, seconds);
    cli_page_text(to, text);
}

static void put_speed(const embedding *e, FILE *to) {
    static const char *const metric[] = {"test_error_percent", "seconds", "storage"};
    static const char *const format[] = {"%.2f", "%.2f", "%.1f"};
    static const char *const head[] = {
        "",           "guide, pixels", "guide, NCA", "guide, ratio", "here, pixels", "here, codes",
        "here, ratio"};
    static const char *const guide[3][4] = {{"error of 5-NN, %", "2.8", "3.3", ""},
                                            {"time, s", "155.25", "2.37", "66"},
                                            {"storage, MB", "156.8", "6.40", "25"}};
    char text[3][3][32];
    const char *at[21];
    double pixels, codes;
    begin(to, "NCA, a guide: k-NN by 50,000 training images of MNIST",
          "The guide: raw pixels against 32 numbers by linear NCA: an error of 3.3 % in place of "
          "2.8 %, 66 "
          "times as fast, a twenty-fifth of the storage. Here times are medians of pairs taken in "
          "turn, with exact neighbours.");
    for (size_t i = 0; i < 3; i++) {
        pixels = put_figure(e, metric[i], 0, format[i], text[i][0]);
        codes = put_figure(e, metric[i], 1, format[i], text[i][1]);
        text[i][2][0] = 0;
        if (i == 1) put_figure(e, "times_faster", 1, "%.1f", text[i][2]);
        if (i == 2 && codes > 0.0) snprintf(text[i][2], 32, "%.1f", pixels / codes);
        for (size_t c = 0; c < 4; c++) at[7 * i + c] = guide[i][c];
        for (size_t c = 0; c < 3; c++) at[7 * i + 4 + c] = text[i][c];
    }
    cli_page_put_table(
        to,
        &(cli_page_table){.columns = 7, .rows = 3, .head = head, .cell = at, .text_columns = 1});
    put_verdict_of_speed(e, to);
    if (!embedding_find(e, "speed", &codes, "\"table\":\"guide\"", NULL))
        cli_page_code(to, "PARTS=speed make paper-embedding    # 2 minutes");
    else if (embedding_find(e, "speed", &codes, "\"table\":\"guide\"", "\"method\":\"pca\"", NULL))
        cli_page_note(to, "The codes are principal components, as linear NCA with 32 numbers was "
                          "not run before this was measured; times and storage are the same.");
}

/* --------------------------------------------------------------------------------------- */

void embedding_part_page(embedding *e) {
    figures_page page;
    figures_page_begin(
        &page, "Codes whose nearest neighbours share their label",
        "The experiments of Min, van der Maaten, Yuan, Bonner and Zhang, Deep supervised "
        "t-distributed embedding (ICML 2010), of Salakhutdinov and Hinton, Learning a nonlinear "
        "embedding by preserving class neighbourhood structure (AISTATS 2007), and of a guide to "
        "NCA, made again with this program.");
    if (e->quick)
        cli_page_text(page.to, "This is the quick version: drawn digits, small networks and few "
                               "epochs, to see that everything runs. Its figures say nothing about "
                               "the methods.");
    cli_page_text(page.to,
                  "Whatever was to be chosen was chosen on a part of the training images; a "
                  "network of the tables was then learned on all of them, and the test images "
                  "were looked at once. Those of pixels, PCA, LDA, linear NCA from PCA and the "
                  "first split of USPS were seen in dry runs, too.");
    put_deep(e, page.to);
    put_nonlinear(e, page.to);
    embedding_put_semi(e, page.to);
    embedding_put_nested(e, page.to);
    embedding_put_preset(e, page.to);
    put_circles(e, page.to);
    put_speed(e, page.to);
    figures_page_end(&e->figures, &page,
                     "Each cell is one run; its settings, commit and machine are in the JSON lines "
                     "beside this page. Made by make paper-embedding.");
}
