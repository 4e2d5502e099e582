/* broadcast.c -- section 6: one code for receivers of many bandwidths (equation 16): each
 * population's own network against the others' and against what else could serve it (receivers.h),
 * over seeds. */
#include "bench/paper/parts.h"
#include "bench/paper/populations.h"
#include "bench/paper/receivers.h"
#include "bench/paper/recipes.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = PAPER_RECEIVER_UNITS };
static const char *const title_of[PAPER_WAYS] = {[PAPER_GEOMETRIC] = "geometric of equal mean",
                                                 [PAPER_CUT] = "standard autoencoder, cut",
                                                 [PAPER_RUNG] = "seven rungs, placed",
                                                 [PAPER_EACH_LENGTH] = "a network for each length"};
static const char *const method_of[PAPER_WAYS] = {[PAPER_GEOMETRIC] = "geometric",
                                                  [PAPER_CUT] = "plain",
                                                  [PAPER_RUNG] = "rungs",
                                                  [PAPER_EACH_LENGTH] = "dedicated"};

/* Of one kind of network. */
typedef struct broadcast {
    paper_selection selection;
    const paper_kind *kind;
    train_truncation population[PAPER_POPULATIONS];
    paper_service service[PAPER_MAX_SEEDS];
} broadcast;

static const char *way_name(int way) {
    return way < PAPER_POPULATIONS ? paper_populations[way] : title_of[way];
}

/* --- over seeds ------------------------------------------------------------------------ */

typedef struct seeds_value {
    double mean, spread; /* max - min */
} seeds_value;

/* Expected error of a way, or (gain 1) the decibels that the own network gains over it. */
static seeds_value over_seeds(const broadcast *b, int q, int way, int gain) {
    seeds_value v = {0.0, 0.0};
    double low = INFINITY, high = -INFINITY;
    for (size_t s = 0; s < b->selection.seeds; s++) {
        const double *at = b->service[s].expected[q];
        double x = gain ? 10.0 * log10(at[way] / at[q]) : at[way];
        v.mean += x / (double)b->selection.seeds;
        low = fmin(low, x), high = fmax(high, x);
    }
    v.spread = high - low;
    return v;
}

/* --- lines ----------------------------------------------------------------------------- */

/* What stands for the way in JSON lines: a truncation, or which rungs. */
static void describe(const broadcast *b, size_t s, int q, int way, char *to, size_t size) {
    const paper_service *service = &b->service[s];
    snprintf(to, size, "%s", way < PAPER_POPULATIONS ? paper_populations[way] : "");
    if (way == PAPER_GEOMETRIC) snprintf(to, size, "%s", service->geometric[q]);
    for (uint32_t i = 0, n = 0; way == PAPER_RUNG && i < service->rungs[q]; i++)
        n += (uint32_t)snprintf(to + n, size - n, "%s%u", i ? "," : "rungs ", service->rung[q][i]);
}

static void print_expected(paper *p, const broadcast *b) {
    for (size_t s = 0; s < b->selection.seeds; s++)
        for (int q = 0; q < PAPER_POPULATIONS; q++)
            for (int w = 0; w < PAPER_WAYS; w++) {
                char what[96];
                const char *method = w == q                  ? "own"
                                     : w < PAPER_POPULATIONS ? "other"
                                                             : method_of[w];
                describe(b, s, q, w, what, sizeof what);
                figures_print(&p->figures, "nested-dropout/broadcast-matrix", "expected distortion",
                              b->service[s].expected[q][w], "8-bit^2",
                              "\"population\":\"%s\",\"method\":\"%s\",\"trained_for\":\"%s\","
                              "\"seed\":%u,\"kind\":\"%s\",\"settings\":\"%s\"",
                              paper_populations[q], method, what, b->selection.seed[s],
                              b->kind->name, RECIPE_RECEIVERS);
            }
}

static void print_gains(paper *p, const broadcast *b) {
    for (int q = 0; q < PAPER_POPULATIONS; q++)
        for (int w = 0; w < PAPER_WAYS; w++) {
            if (w == q) continue;
            seeds_value v = over_seeds(b, q, w, 1);
            figures_print(
                &p->figures, "nested-dropout/broadcast-matrix", "gain of own network", v.mean, "dB",
                "\"population\":\"%s\",\"over\":\"%s\",\"kind\":\"%s\",\"seeds\":%zu,"
                "\"spread\":%.4f,\"spread_is\":\"max - min\"",
                paper_populations[q], way_name(w), b->kind->name, b->selection.seeds, v.spread);
        }
}

static void write_histograms(const paper *p, const broadcast *b) {
    for (int q = 0; q < PAPER_POPULATIONS; q++) {
        char comment[128];
        taper_error error = {0};
        if (!strncmp(paper_populations[q], "ladder:", 7)) continue; /* taper train-bits has these */
        char *path = figures_path(p->figures.out, "broadcast-log-normal-%s.txt",
                                  strchr(paper_populations[q], ':') + 1);
        snprintf(comment, sizeof comment, "share of receivers of 1, 2, ... %u bits: %s", UNITS,
                 paper_populations[q]);
        figures_check(paper_write_histogram(&b->population[q], path, comment, &error), path,
                      &error);
        free(path);
    }
}

/* --- figures --------------------------------------------------------------------------- */

/* Of the first seed. */
static void plot(paper *p, const broadcast *b) {
    double bits[UNITS];
    char stem[64], title[64];
    figures_line line[PAPER_WAYS];
    size_t n = 0;
    for (uint32_t i = 0; i < UNITS; i++) bits[i] = i + 1;
    for (int w = 0; w < PAPER_WAYS; w++)
        if (w != PAPER_GEOMETRIC && w != PAPER_RUNG)
            line[n++] = (figures_line){way_name(w), bits, b->service[0].error[w] + 1, UNITS};
    snprintf(stem, sizeof stem, "broadcast-%s", b->kind->name);
    snprintf(title, sizeof title, "What a receiver sees, %s", b->kind->name);
    figures_plot(&p->figures, stem, title, "bandwidth of the receiver, bits an image",
                 "mean squared error (8-bit scale)", FIGURES_LOG_X, line, n);
}

static void plot_populations(paper *p, const broadcast *b) {
    double bits[UNITS], share[PAPER_POPULATIONS][UNITS];
    figures_line line[PAPER_POPULATIONS];
    for (int q = 0; q < PAPER_POPULATIONS; q++) {
        for (uint32_t i = 0; i < UNITS; i++)
            bits[i] = i + 1, share[q][i] = 100.0 * b->population[q].mass[i];
        line[q] = (figures_line){paper_populations[q], bits, share[q], UNITS};
    }
    figures_plot(&p->figures, "broadcast-populations", "Populations of receivers",
                 "bandwidth of the receiver, bits an image", "% of the receivers", FIGURES_LOG_X,
                 line, PAPER_POPULATIONS);
}

/* --- page ------------------------------------------------------------------------------ */

/* Ways by populations: expected errors, or what the own network gains in dB. */
static void put_table(FILE *to, const broadcast *b, const char *heading, int gain) {
    enum { COLUMNS = PAPER_POPULATIONS + 1 };
    char cell[PAPER_WAYS][PAPER_POPULATIONS][48], first[PAPER_WAYS][64];
    const char *heads[COLUMNS] = {heading}, *at[PAPER_WAYS * COLUMNS];
    bool strong[PAPER_WAYS] = {false};
    for (int q = 0; q < PAPER_POPULATIONS; q++) heads[q + 1] = paper_populations[q];
    for (int w = 0; w < PAPER_WAYS; w++) {
        snprintf(first[w], sizeof first[w], "%s%s", w < PAPER_POPULATIONS ? "trained for " : "",
                 way_name(w));
        at[w * COLUMNS] = first[w];
        for (int q = 0; q < PAPER_POPULATIONS; q++) {
            seeds_value v = over_seeds(b, q, w, gain);
            snprintf(cell[w][q], sizeof cell[w][q], gain ? "%+.3f (%.3f)" : "%.1f (%.1f)", v.mean,
                     v.spread);
            at[w * COLUMNS + q + 1] = gain && w == q ? NULL : cell[w][q];
        }
    }
    cli_page_put_table(to, &(cli_page_table){.columns = COLUMNS,
                                             .rows = PAPER_WAYS,
                                             .head = heads,
                                             .cell = at,
                                             .text_columns = 1,
                                             .strong = strong});
}

static FILE *begin_page(const paper *p) {
    FILE *to = paper_section(
        p, "broadcast", "Section 6: a broadcast to many bandwidths",
        "if p_B is the distribution of the receivers' bandwidths, what nested dropout minimises is "
        "the expected distortion over them (equation 16); services offer a handful of fixed "
        "encodings instead. The paper leaves the experiment open.");
    figures_section_svg(&p->figures, to, "broadcast-populations",
                        "share of receivers against bandwidth");
    return to;
}

static void put_kind(const paper *p, FILE *to, const broadcast *b) {
    char stem[64], title[96];
    snprintf(stem, sizeof stem, "broadcast-%s", b->kind->name);
    figures_section_svg(&p->figures, to, stem,
                        "error against bandwidth for the ways of serving it");
    snprintf(title, sizeof title, "%s: expected squared error of", b->kind->name);
    put_table(to, b, title, 0);
    snprintf(title, sizeof title, "%s: gain of the own network, dB, over", b->kind->name);
    put_table(to, b, title, 1);
}

static void end_page(FILE *to) {
    cli_page_note(to, "Networks of 64 binary units; columns are populations, and a ladder has all "
                      "its receivers at two bandwidths. Means over seeds; in brackets the largest "
                      "less the smallest. Seven rungs are networks of one length each, at the "
                      "lengths that dynamic programming finds best for the population; where the "
                      "population has no more bandwidths than rungs, they are the bound itself.");
    cli_page_text(to,
                  "A linear code could gain nothing here. Its error at every length is least "
                  "for the principal components in their order (Eckart and Young), whatever "
                  "the distribution of lengths: one code is best for all populations at once, "
                  "and real-valued linear units trained for two of them differed by 0.009 dB. "
                  "Bits could gain, as what the first eight say best alone need not be what "
                  "they say best as eight of 64. Independent ones do, a little; with feedback "
                  "each bit says what those before it have left, and the network for one ladder "
                  "serves the other as well.");
    cli_page_note(to, RECIPE_RECEIVERS);
    figures_section_end(to);
}

static void serve(paper *p, broadcast *b) {
    for (size_t s = 0; s < b->selection.seeds; s++)
        paper_serve(p, b->population, b->kind, b->selection.seed[s], &b->service[s]);
    print_expected(p, b);
    print_gains(p, b);
    plot(p, b);
}

/* For each kind that is selected and untied. */
void paper_part_broadcast(paper *p) {
    broadcast *b = figures_memory(1, sizeof *b);
    paper_load(p);
    b->selection = paper_selected(p);
    for (int q = 0; q < PAPER_POPULATIONS; q++) {
        taper_error error = {0};
        figures_check(paper_truncation(&b->population[q], paper_populations[q], UNITS, &error),
                      paper_populations[q], &error);
    }
    write_histograms(p, b);
    plot_populations(p, b);
    FILE *to = begin_page(p);
    for (size_t k = 0; k < b->selection.kinds; k++) {
        b->kind = &b->selection.kind[k];
        if (b->kind->tied) continue;
        serve(p, b);
        put_kind(p, to, b);
    }
    end_page(to);
    for (int q = 0; q < PAPER_POPULATIONS; q++) train_truncation_free(&b->population[q]);
    free(b);
}
