/* tables.c -- see tables.h. */
#include "bench/paper-embedding/tables.h"
#include "cli/common/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, CELL = 96 };

embedding_figure embedding_figure_of(const embedding *e, const char *set, const char *method,
                                     const char *variant, uint32_t dims) {
    embedding_figure f = {.of = strcmp(set, "usps") ? 1 : EMBEDDING_SPLITS};
    double sum = 0.0, squares = 0.0, alpha = 0.0;
    for (uint32_t i = 0; i < f.of; i++) {
        embedding_cell cell =
            embedding_cell_of(set, method, variant, dims, f.of == 1 ? 0 : i + 1, e->seed);
        embedding_record r;
        if (!embedding_record_read(e, &cell, &r)) {
            f.minutes += embedding_recipe_of(&cell)->minutes;
            continue;
        }
        f.runs++;
        sum += r.error[2], squares += r.error[2] * r.error[2], alpha += r.alpha;
        f.low = r.low[2], f.high = r.high[2];
    }
    if (!f.runs) return f;
    double n = (double)f.runs;
    f.error = sum / n, f.alpha = strcmp(variant, "learned") ? 0.0 : alpha / n;
    if (f.runs > 1) f.deviation = sqrt(fmax(0.0, squares - n * f.error * f.error) / (n - 1.0));
    return f;
}

/* --- verdicts -------------------------------------------------------------------------- */

static const char *verdict_of(const embedding_published *p, const embedding_figure *f) {
    if (!f->runs) return "not run";
    if (!(p->error > 0.0)) return "the paper has none";
    double difference = f->error - p->error;
    if (p->deviation > 0.0) { /* two means of splits; 2.23: Student's, 10 degrees */
        if (f->runs < 2) return "one split: too few to say";
        double noise = sqrt(p->deviation * p->deviation / EMBEDDING_SPLITS +
                            f->deviation * f->deviation / (double)f->runs);
        if (fabs(difference) <= 2.23 * noise) return "the same, within noise";
    } else if (p->error >= f->low && p->error <= f->high)
        return "the same, within 95 %";
    return difference < 0.0 ? "better" : "worse";
}

static void fill_row(const embedding_published *p, const embedding_figure *f, int quick,
                     char cell[COLUMNS][CELL]) {
    snprintf(cell[0], CELL, "%s", p->label);
    snprintf(cell[1], CELL, "%u", p->dims);
    if (!(p->error > 0.0))
        snprintf(cell[2], CELL, "-");
    else if (p->deviation > 0.0)
        snprintf(cell[2], CELL, "%.2f \302\261 %.2f", p->error, p->deviation);
    else
        snprintf(cell[2], CELL, "%.2f", p->error);
    if (!f->runs) {
        snprintf(cell[3], CELL, p->method ? "not run" : "not made here");
        if (p->method) snprintf(cell[5], CELL, "about %.0f minutes", fmax(1.0, f->minutes));
        return;
    }
    if (f->of == 1)
        snprintf(cell[3], CELL, "%.2f", f->error);
    else
        snprintf(cell[3], CELL, "%.2f \302\261 %.2f", f->error, f->deviation);
    if (f->of == 1)
        snprintf(cell[5], CELL, "%.2f to %.2f", f->low, f->high);
    else
        snprintf(cell[5], CELL, "%zu of %zu splits", f->runs, f->of);
    snprintf(cell[4], CELL, "%s", quick ? "quick: none" : verdict_of(p, f));
}

/* --- on the page ----------------------------------------------------------------------- */

static void put_commands(const embedding *e, FILE *to, const embedding_published *row,
                         const embedding_figure *f, size_t rows) {
    char *text = NULL;
    size_t n = 0;
    FILE *all = open_memstream(&text, &n);
    if (!all) figures_die("no memory for the page");
    for (size_t i = 0; i < rows; i++) {
        if (!row[i].method || f[i].runs == f[i].of) continue;
        embedding_cell c =
            embedding_cell_of(row[i].set, row[i].method, row[i].variant, row[i].dims, 0, e->seed);
        fprintf(all, "%sPARTS=%s CELLS='%.*s*' make paper-embedding    # %.0f minutes",
                ftell(all) ? "\n" : "", c.set, (int)(strstr(c.name, "-seed") + 1 - c.name), c.name,
                fmax(1.0, f[i].minutes));
    }
    if (fclose(all) != 0) figures_die("no memory for the page");
    if (text[0]) {
        cli_page_note(to,
                      "What was not run, with TAPER_DATA=folder: minutes on 2 cores. Pretraining "
                      "of the layers that all cells of a set, split and seed share comes once "
                      "beside them: 8 minutes of MNIST, 1 of a split of USPS.");
        cli_page_code(to, text);
    }
    free(text);
}

static void put_alphas(FILE *to, const embedding_published *row, const embedding_figure *f,
                       size_t rows) {
    char text[600] = "alpha, where it was learned:";
    int any = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t used = strlen(text);
        if (!(f[i].alpha > 0.0)) continue;
        snprintf(text + used, sizeof text - used, "%s %s, %u numbers: %.2f", any ? ";" : "",
                 row[i].label, row[i].dims, f[i].alpha);
        any = 1;
    }
    if (any) cli_page_note(to, text);
}

void embedding_put_table(const embedding *e, FILE *to, const embedding_published *row,
                         size_t rows) {
    static const char *const head[COLUMNS] = {"method", "d", "paper", "here", "verdict", ""};
    char(*cell)[COLUMNS][CELL] = figures_memory(rows, sizeof *cell);
    const char **at = figures_memory(rows * COLUMNS, sizeof *at);
    embedding_figure *f = figures_memory(rows, sizeof *f);
    for (size_t i = 0; i < rows; i++) {
        if (row[i].method)
            f[i] = embedding_figure_of(e, row[i].set, row[i].method, row[i].variant, row[i].dims);
        fill_row(&row[i], &f[i], e->quick, cell[i]);
        for (size_t c = 0; c < COLUMNS; c++) at[i * COLUMNS + c] = cell[i][c];
    }
    cli_page_put_table(
        to, &(cli_page_table){
                .columns = COLUMNS, .rows = rows, .head = head, .cell = at, .text_columns = 1});
    put_alphas(to, row, f, rows);
    put_commands(e, to, row, f, rows);
    free(cell), free(at), free(f);
}

/* Half the 95 % interval of the difference of two rates, as if rows were others. */
static double half_gap(const embedding_figure *a, const embedding_figure *b) {
    double ha = 0.5 * (a->high - a->low), hb = 0.5 * (b->high - b->low);
    return sqrt(ha * ha + hb * hb);
}

void embedding_put_order(const embedding *e, FILE *to, const embedding_published *row,
                         size_t rows) {
    for (size_t i = 0; i + 1 < rows; i++) {
        embedding_figure a =
            embedding_figure_of(e, row[i].set, row[i].method, row[i].variant, row[i].dims);
        embedding_figure b = embedding_figure_of(e, row[i + 1].set, row[i + 1].method,
                                                 row[i + 1].variant, row[i + 1].dims);
        char text[400];
        if (!a.runs || !b.runs || e->quick) continue;
        double gap = b.error - a.error, half = half_gap(&a, &b);
        snprintf(text, sizeof text,
                 "%u numbers: %s %.2f, %s %.2f: the gap is %+.2f \302\261 %.2f (paper: %+.2f); %s.",
                 row[i].dims, row[i].label, a.error, row[i + 1].label, b.error, gap, half,
                 row[i + 1].error - row[i].error,
                 gap > half    ? "the paper's order"
                 : gap < -half ? "the other order"
                 : gap > 0.0   ? "the paper's order, within noise"
                               : "the other order, within noise");
        cli_page_text(to, text);
    }
}
