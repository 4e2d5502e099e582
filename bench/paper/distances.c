/* distances.c -- the part `baselines`: every result of baselines.h by seed, and how far nested
 * codes are from each rival. */
#include "bench/paper/baselines.h"
#include "bench/paper/parts.h"
#include "cli/common/page.h"
#include <stdlib.h>

static const uint32_t asked[] = {16, 32, 64, 128, 256, 512, 1024};
enum { ASKED = sizeof asked / sizeof *asked };

static const char *decoder_of(const paper_kind *kind) {
    return kind->tied ? "tied" : "untied"; /* a refitted one is untied */
}

static const char *units_of(const paper_kind *kind) {
    return kind->feedback ? "feedback" : "independent";
}

static void print_results(paper *p, const paper_results *r) {
    for (size_t i = 0; i < r->n; i++) {
        const paper_result *one = &r->result[i];
        for (size_t j = 0; j < one->curve.n; j++)
            figures_print(&p->figures, "nested-dropout/baselines", "mse", one->curve.mse[j],
                          "8-bit^2",
                          "\"method\":\"%s\",\"decoder\":\"%s\",\"units\":\"%s\",\"bits\":%u,"
                          "\"seed\":%u,\"settings\":\"%s\"",
                          paper_method_name[one->method], decoder_of(&one->kind),
                          units_of(&one->kind), one->curve.length[j], one->seed, one->settings);
    }
}

static void print_distances(paper *p, const paper_results *r, const paper_kind *kind) {
    for (int m = PAPER_PLAIN; m < PAPER_METHODS; m++)
        for (int i = 0; i < ASKED; i++) {
            paper_spread s = paper_nested_to(r, (paper_method)m, kind, asked[i]);
            if (!s.count) continue;
            figures_print(&p->figures, "nested-dropout/baselines",
                          "mse of nested to that of the rival", s.mean, "",
                          "\"over\":\"%s\",\"decoder\":\"%s\",\"units\":\"%s\",\"bits\":%u,"
                          "\"seeds\":%zu,\"spread\":%.5f,\"spread_is\":\"max - min\"",
                          paper_method_name[m], decoder_of(kind), units_of(kind), asked[i], s.count,
                          s.spread);
        }
}

/* Per cent by which nested codes are off: below 0 they are better. */
static void put_distances(FILE *to, const paper_results *r, const paper_kind *kind) {
    enum { COLUMNS = ASKED + 1, ROWS = PAPER_METHODS - 1 };
    char head[ASKED][24], cell[ROWS][ASKED][40], title[96];
    const char *heads[COLUMNS] = {title}, *at[ROWS * COLUMNS];
    bool strong[ROWS] = {false};
    snprintf(title, sizeof title, "nested, %s, over", kind->name);
    size_t rows = 0;
    for (int j = 0; j < ASKED; j++) {
        snprintf(head[j], sizeof head[j], "%u bits", asked[j]);
        heads[j + 1] = head[j];
    }
    for (int m = PAPER_PLAIN; m < PAPER_METHODS; m++) {
        size_t some = 0;
        at[rows * COLUMNS] = paper_method_name[m];
        for (int j = 0; j < ASKED; j++) {
            paper_spread s = paper_nested_to(r, (paper_method)m, kind, asked[j]);
            char *text = cell[rows][j];
            snprintf(text, sizeof cell[rows][j], "%+.1f %% (%.1f)", 100.0 * (s.mean - 1.0),
                     100.0 * s.spread);
            at[rows * COLUMNS + (size_t)j + 1] = s.count ? text : NULL;
            some += s.count;
        }
        rows += some > 0;
    }
    cli_page_put_table(to, &(cli_page_table){.columns = COLUMNS,
                                             .rows = rows,
                                             .head = heads,
                                             .cell = at,
                                             .text_columns = 1,
                                             .strong = strong});
}

static void put_page(paper *p, const paper_results *r) {
    FILE *to = paper_section(
        p, "baselines", "Against the strongest rivals of as many bits",
        "its baselines are the standard autoencoder, cut as it is or with its units ordered by "
        "Optimal Brain Damage, both with the decoder that was trained for whole codes.");
    cli_page_text(to, "Squared error on the test images, in per cent of the rival's; below 0 "
                      "nested codes are better. In brackets the largest less the smallest over "
                      "seeds.");
    for (size_t k = 0; k < r->selection.kinds; k++) put_distances(to, r, &r->selection.kind[k]);
    cli_page_note(
        to,
        "plain: a standard autoencoder of the same kind, steps and parameters, cut. obd: its "
        "units by Optimal Brain Damage, measured anew after each removal; obd-refit: with the "
        "best linear decoder for every length. refit: the least with such decoders over three "
        "orders: as they are, by Optimal Brain Damage, by forward selection. Networks "
        "with feedback and an untied decoder end their training with such a one, the standard ones "
        "too, and Optimal Brain Damage, which is about the decoder that was trained, is left "
        "out there. dedicated: a network of its own for each length, the bound. "
        "pca-signs and itq: signs of principal components above or below the median, and "
        "after iterative quantisation for each length, with the best linear decoder.");
    figures_section_end(to);
}

void paper_part_baselines(paper *p) {
    paper_results *results = paper_baselines(p);
    print_results(p, results);
    for (size_t k = 0; k < results->selection.kinds; k++)
        print_distances(p, results, &results->selection.kind[k]);
    put_page(p, results);
    free(results);
}
