/* parts.c -- the parts that run cells: those that are asked for and have no record yet. */
#include "bench/bench.h"
#include "bench/paper-embedding/judge.h"
#include "bench/paper-embedding/learn.h"
#include "bench/paper-embedding/scatter.h"
#include "bench/paper-embedding/sets.h"
#include "bench/paper-embedding/settings.h"
#include "bench/paper-embedding/sweep.h"
#include <stdlib.h>
#include <string.h>

/* "dt-nca alpha d-1", "linear-nca from random" */
static void title_of(const embedding_cell *c, char title[64]) {
    const embedding_method *m = c->method;
    const char *word = m->kind == EMBEDDING_LINEAR ? " from " : " alpha ";
    snprintf(title, 64, "%s%s%s", m->name, m->variant[0] ? word : "", m->variant);
}

/* Columns first .. first + n - 1 of rows as new memory. */
static float *columns_of(const float *x, size_t rows, size_t columns, size_t first, size_t n) {
    float *to = figures_memory(rows * n, sizeof *to);
    for (size_t i = 0; i < rows; i++) memcpy(to + i * n, x + i * columns + first, n * sizeof *to);
    return to;
}

/* A network's codes, or pixels. */
typedef struct judged {
    float *train, *test;
    size_t units;
} judged;

/* Errors by n units from `first` on; the first of them are pictured if that is wanted. */
static void judge(const embedding *e, const embedding_set *set, const judged *codes, size_t first,
                  size_t n, const char *stem, const char *title, embedding_record *record) {
    float *train = columns_of(codes->train, set->train.n, codes->units, first, n),
          *test = columns_of(codes->test, set->test.n, codes->units, first, n);
    embedding_judge(e, n, train, &set->train, test, &set->test, record);
    if (stem) embedding_scatter(e, stem, title, test, &set->test);
    free(train), free(test);
}

/* Learn and judge; a picture of codes of two numbers if one is wanted. */
static void run(embedding *e, const embedding_cell *cell, int choosing, int picture,
                embedding_record *record) {
    embedding_set set;
    embedding_learned learned;
    embedding_set_read(e, cell, choosing, &set);
    figures_say("%s: %zu rows to learn from, %zu to %s by", cell->name, set.train.n, set.test.n,
                choosing ? "choose" : "judge");
    char words[512];
    embedding_settings_words(e, cell, words, sizeof words);
    const embedding_settings s = embedding_settings_of(words);
    embedding_hide_labels(&set, s.labels_percent, s.labels_each, cell->seed);
    embedding_learn(e, cell, &set.train, &learned);
    embedding_keep_labelled(&set);
    const codec_network *net = learned.net.inputs ? &learned.net : NULL;
    const judged codes = {embedding_codes(e, net, &set.train), embedding_codes(e, net, &set.test),
                          net ? net->units : set.train.inputs};
    const size_t others = net ? s.training.free_units : 0, width = codes.units - others;
    const int pictured = picture && width == 2 && cell->split <= 1;
    char title[64];
    title_of(cell, title);
    *record = (embedding_record){.minutes = learned.minutes, .alpha = learned.alpha};
    memcpy(record->settings, learned.settings, sizeof record->settings);
    judge(e, &set, &codes, 0, width, pictured ? cell->name : NULL, title, record);
    if (others) {
        embedding_record of_others = {0};
        judge(e, &set, &codes, width, others, NULL, NULL, &of_others);
        record->free_error = of_others.error[1];
    }
    figures_say("%s: 5-NN errs on %.2f %% (%.2f to %.2f) of %zu, %.1f minutes%s", cell->name,
                record->error[2], record->low[2], record->high[2], record->tested, record->minutes,
                e->quick ? " (quick: drawn digits, says nothing)" : "");
    if (others && picture) embedding_sweep(e, cell->name, net, others, codes.test, &set.test);
    free(codes.train), free(codes.test);
    embedding_learned_free(&learned);
    embedding_set_free(&set);
}

/* Cells of a set that are asked for and have no record. */
static void run_set(embedding *e, const char *set) {
    embedding_cell cell[EMBEDDING_MOST_CELLS];
    embedding_record record;
    size_t n = embedding_cells(set, e->seed, cell);
    if (!embedding_set_is_here(e, set)) {
        figures_say("SKIP %s: its files are not in %s/%s", set, e->data, set);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!embedding_cell_matches(&cell[i], e->patterns) ||
            embedding_record_read(e, &cell[i], &record))
            continue;
        run(e, &cell[i], 0, 1, &record);
        embedding_record_write(e, &cell[i], &record);
    }
}

void embedding_part_mnist(embedding *e) { run_set(e, "mnist"); }
void embedding_part_usps(embedding *e) { run_set(e, "usps"); }
void embedding_part_circles(embedding *e) { run_set(e, "circles"); }

void embedding_part_try(embedding *e) {
    embedding_cell cell[EMBEDDING_MOST_CELLS];
    size_t n = embedding_cells(NULL, e->seed, cell);
    for (size_t i = 0; i < n; i++) {
        embedding_record r;
        if (!embedding_cell_matches(&cell[i], e->patterns)) continue;
        if (!embedding_set_is_here(e, cell[i].set)) figures_die("no files of %s", cell[i].set);
        run(e, &cell[i], 1, 0, &r);
        printf("%s: validation error of 1, 3, 5, 7-NN: %.2f %.2f %.2f %.2f %%; %s\n", cell[i].name,
               r.error[0], r.error[1], r.error[2], r.error[3], r.settings);
    }
}

void embedding_part_list(embedding *e) {
    embedding_cell cell[EMBEDDING_MOST_CELLS];
    embedding_record r;
    size_t n = embedding_cells(NULL, e->seed, cell);
    for (size_t i = 0; i < n; i++)
        if (embedding_record_read(e, &cell[i], &r))
            printf("%-40s %6.2f %% at 5-NN, %.1f minutes\n", cell[i].name, r.error[2], r.minutes);
        else
            printf("%-40s not run, about %.1f minutes%s\n", cell[i].name,
                   embedding_recipe_of(&cell[i])->minutes,
                   embedding_cell_matches(&cell[i], e->patterns) ? ", asked for" : "");
}
