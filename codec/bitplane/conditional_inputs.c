/* conditional_inputs.c -- see conditional_inputs.h. Integers only (promise P4). */
#include "codec/bitplane/conditional_inputs.h"
#include "codec/bitplane/neighbours.h"
#include <string.h>

enum { CHANGES = 6 /* of a position, on average, before the list is full */ };

void codec_input_changes_lay_out(codec_input_changes *c, uint32_t n, formats_layout *at) {
    const uint64_t most = CHANGES * (uint64_t)n;
    *c = (codec_input_changes){.most = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX)};
    c->position = formats_lay(at, most, sizeof *c->position);
    c->change = formats_lay(at, most, sizeof *c->change);
    c->sorted = formats_lay(at, most, sizeof *c->sorted);
    c->end = formats_lay(at, n, sizeof *c->end);
}

void codec_input_changes_sort(codec_input_changes *c, uint32_t n) {
    memset(c->end, 0, n * sizeof *c->end);
    for (uint32_t i = 0; i < c->count; i++) c->end[c->position[i]]++;
    uint32_t begin = 0;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t changes = c->end[p];
        c->end[p] = begin; /* it becomes the end as changes are placed */
        begin += changes;
    }
    for (uint32_t i = 0; i < c->count; i++) c->sorted[c->end[c->position[i]]++] = c->change[i];
}

/* A diagonal neighbour is two steps away. A neighbour of the absent slot n is n. */
uint32_t codec_conditional_neighbour(const codec_group *g, uint32_t p, uint32_t side) {
    static const uint8_t across[3] = {CODEC_LEFT, 0, CODEC_RIGHT},
                         along[3] = {CODEC_UP, 0, CODEC_DOWN};
    uint32_t x = side % 3, y = side / 3;
    if (x != 1) p = g->neighbour[across[x]] ? g->neighbour[across[x]][p] : g->n;
    if (y != 1) p = g->neighbour[along[y]] ? g->neighbour[along[y]][p] : g->n;
    return p;
}

/* List changes i .. end - 1, of a window on this side, as rows of the first layer. Returns their
 * number. */
static uint32_t list_rows(const codec_input_changes *c, const codec_conditional *model, uint32_t i,
                          uint32_t end, uint32_t side, codec_pair_row *row) {
    uint32_t first = codec_conditional_input(model->own, model->neighbour_units, side, 0);
    uint32_t units = side == CODEC_CONDITIONAL_SELF ? model->own : model->neighbour_units, rows = 0;
    for (; i < end && c->sorted[i].row < units; i++) {
        codec_pair_row change = c->sorted[i];
        row[rows++] = (codec_pair_row){first + change.row, change.a, change.b};
    }
    return rows;
}

/* Of the window at `centre`, above, at or below a position, and of those beside it. side: that of
 * the centre. Their changes are adjacent, and mostly there are none. */
static uint32_t list_three(const codec_input_changes *c, const codec_conditional *model,
                           uint32_t centre, uint32_t sides, uint32_t side, codec_pair_row *row) {
    uint32_t left = (sides & CODEC_HAS_LEFT) != 0, right = (sides & CODEC_HAS_RIGHT) != 0,
             from = centre - left, rows = 0, i = from ? c->end[from - 1] : 0;
    if (i == c->end[centre + right]) return 0;
    for (uint32_t p = from; p <= centre + right; i = c->end[p++])
        rows += list_rows(c, model, i, c->end[p], side + p - centre, row + rows);
    return rows;
}

void codec_input_changes_sum(const codec_input_changes *c, const codec_conditional *model,
                             const codec_group *g, uint32_t p, int32_t *sum) {
    enum { ABOVE = 1, SELF = CODEC_CONDITIONAL_SELF, BELOW = 7 };
    codec_pair_row row[CODEC_CONDITIONAL_SIDES * CODEC_CONDITIONAL_MOST_UNITS];
    uint32_t rows = 0, sides = g->sides ? g->sides[p] : 0;
    if (sides & CODEC_HAS_UP)
        rows = list_three(c, model, g->neighbour[CODEC_UP][p], sides, ABOVE, row);
    rows += list_three(c, model, p, sides, SELF, row + rows);
    if (sides & CODEC_HAS_DOWN)
        rows += list_three(c, model, g->neighbour[CODEC_DOWN][p], sides, BELOW, row + rows);
    if (rows) codec_add_rows(sum, model->pairs, row, rows, model->hidden);
}
