/* nested.c -- see nested.h. */
#include "bench/paper-embedding/nested.h"
#include "bench/figures/sections.h"
#include "bench/paper-embedding/records.h"
#include "cli/common/page.h"

enum { MOST_LENGTHS = 5, COLUMNS = 4 };

typedef struct section {
    const char *file, *key; /* FILE.jsonl; what a record calls the length */
    const char *own;        /* what it calls the method of a model for that length alone */
    size_t lengths;
    unsigned length[MOST_LENGTHS];
    const char *heading, *note, *unit, *axis;
} section;

static const section sections[] = {
    {"nested",
     "dims",
     "own",
     5,
     {2, 4, 8, 16, 30},
     "Nested codes: one model for every length, error of 5-NN in %",
     "Not the papers': MNIST over the first 2, 4, 8, 16 and all 30 numbers at once, against a "
     "model "
     "for each length; images move in training, no pretraining (bench/nested_units.sh). Where a "
     "record names no objective it is dt-NCA by 500-500-2000, which of two numbers alone does not "
     "part the classes from random weights.",
     "numbers",
     "numbers of the code that are read"},
    {"bits",
     "bits",
     "alone",
     4,
     {8, 16, 32, 64},
     "Nested bits: the first bits of a code that also holds the picture, error of 5-NN in %",
     "Not the papers': of a binary autoencoder of MNIST the first 64 bits learn from labels, at "
     "lengths 8, 16, 32 and 64 at once, against models whose labels are for that length alone "
     "(bench/nested_labels.sh; Hamming distances).",
     "bits",
     "bits of the code that are read"}};

/* Of seed 1, which has all of them. */
static double error_of(const embedding *e, const section *s, const char *method, unsigned length) {
    char of_method[40], of_length[24];
    double value = 0.0;
    snprintf(of_method, sizeof of_method, "\"method\":\"%s\"", method);
    snprintf(of_length, sizeof of_length, "\"%s\":%u,", s->key, length);
    return embedding_find(e, s->file, &value, of_method, of_length, "\"seed\":1,", NULL) ? value
                                                                                         : 0.0;
}

static void plot(const embedding *e, const section *s, const double *x, const double *nested,
                 const double *own, FILE *to) {
    const figures_line line[] = {{"nested", x, nested, s->lengths},
                                 {"models of their own", x, own, s->lengths}};
    figures_plot(&e->figures, s->file, "MNIST, test set", s->axis, "error of 5-NN, %",
                 FIGURES_LOG_X | FIGURES_LOG_Y, line, sizeof line / sizeof *line);
    figures_section_svg(&e->figures, to, s->file, "error against the length of a code");
}

static void put(const embedding *e, const section *s, FILE *to) {
    const char *const head[COLUMNS] = {s->unit, "nested code", "a code of its own", "ratio"};
    char text[MOST_LENGTHS][COLUMNS][24];
    const char *at[MOST_LENGTHS * COLUMNS];
    double x[MOST_LENGTHS], nested[MOST_LENGTHS], own[MOST_LENGTHS];
    for (size_t i = 0; i < s->lengths; i++) {
        x[i] = s->length[i];
        nested[i] = error_of(e, s, "nested", s->length[i]);
        own[i] = error_of(e, s, s->own, s->length[i]);
        if (!(nested[i] > 0.0) || !(own[i] > 0.0)) return;
        snprintf(text[i][0], 24, "%u", s->length[i]);
        snprintf(text[i][1], 24, "%.2f", nested[i]);
        snprintf(text[i][2], 24, "%.2f", own[i]);
        snprintf(text[i][3], 24, "%.2f", nested[i] / own[i]);
        for (size_t c = 0; c < COLUMNS; c++) at[i * COLUMNS + c] = text[i][c];
    }
    cli_page_heading(to, s->heading);
    cli_page_note(to, s->note);
    cli_page_put_table(
        to, &(cli_page_table){.columns = COLUMNS, .rows = s->lengths, .head = head, .cell = at});
    plot(e, s, x, nested, own, to);
}

void embedding_put_nested(const embedding *e, FILE *to) {
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) put(e, &sections[i], to);
}
