/* nested_classes.c -- see nested_classes.h. */
#include "train/nested/nested_classes.h"
#include "train/optimise/rank_sums.h"
#include <math.h>

/* --- before a run ------------------------------------------------------------------------ */

/* The number of distinct labels: 0, 1, or 2 for more. */
static int labels_met(const train_pixels *data) {
    uint32_t first = TRAIN_UNLABELLED;
    for (size_t i = 0; data->label && i < data->n; i++) {
        const uint32_t label = data->label[i];
        if (label == TRAIN_UNLABELLED) continue;
        if (first != TRAIN_UNLABELLED && label != first) return 2;
        first = label;
    }
    return first != TRAIN_UNLABELLED;
}

/* Whether lengths rise, from at least 1, to all class units. */
static int lengths_are_legal(const train_nested_classes *c) {
    const train_prefix_list *list = &c->of.list;
    if (!list->lengths || list->lengths > TRAIN_MOST_PREFIXES) return 0;
    for (uint32_t i = 0; i < list->lengths; i++)
        if (list->length[i] <= (i ? list->length[i - 1] : 0)) return 0;
    return list->length[list->lengths - 1] == c->units;
}

taper_status train_nested_classes_check(const train_nested_classes *c,
                                        const train_nested_shape *shape, int straight_through,
                                        const train_pixels *data, taper_error *error) {
    const uint32_t units = shape->width[shape->layers - 1];
    const int met = labels_met(data);
    if (!shape->binary || !straight_through)
        return formats_fail(error, TAPER_ERR_ARG,
                            "class units are bits with a gradient through thresholds: give --code "
                            "binary, and --gradient through");
    if (c->units > units)
        return formats_fail(error, TAPER_ERR_ARG, "%u class units of a code of %u units; give %s",
                            (unsigned)c->units, (unsigned)units, "fewer, or a longer code");
    if (!lengths_are_legal(c))
        return formats_fail(error, TAPER_ERR_ARG,
                            "lengths of nested codes rise from 1 to all %u class units, %d at most",
                            (unsigned)c->units, TRAIN_MOST_PREFIXES);
    if (!(c->weight >= 0.0f) || !isfinite(c->weight))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the weight of class units must be a number from 0 up");
    if (met >= 2) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "%s",
                        met ? "all labelled images are of one class; class units need two or more "
                              "to tell apart"
                            : "class units learn from labels, and no image has one; put images "
                              "into a folder for each class, or give --labels FILE");
}

void train_nested_classes_begin(train_nested_classes *c, const train_prefix_list *lengths) {
    train_prefix_list list = *lengths;
    for (uint32_t b = 8; !lengths->lengths && b < c->units; b *= 2) list.length[list.lengths++] = b;
    if (!lengths->lengths) list.length[list.lengths++] = c->units;
    c->of = (train_prefixes){.of = {.loss = TRAIN_LOG_NCA, .student = 1}, .list = list};
}

void train_nested_classes_lay_out(train_nested_classes *c, train_arena *arena, size_t batch) {
    float **const array[] = {&c->code, &c->gradient, &c->pre, &c->own, &c->sum};
    train_prefixes_objective.lay_out(&c->of, arena, c->units, batch);
    c->known = train_arena_take(arena, batch, 1, sizeof *c->known);
    for (int i = 0; i < 5; i++) *array[i] = train_arena_floats(arena, batch, c->units);
    c->row = train_arena_take(arena, batch, 1, sizeof *c->row);
    c->total = train_arena_take(arena, 2, 1, sizeof *c->total);
}

/* --- a step ------------------------------------------------------------------------------ */

taper_status train_nested_classes_collect(train_nested_rows *block, size_t n) {
    train_nested_network *net = block->net;
    train_stream *s = &net->stream;
    const train_nested_classes *c = block->step->classes;
    float *code = c->code + block->first_row * c->units;
    TAPER_TRY(train_nested_load(block, n, 0));
    TAPER_TRY(train_nested_encode_block(block, net->act.input, n, c->units));
    TAPER_TRY(train_nested_decide(block, 1, n, c->units, NULL, code));
    return s->ops->scale(s, n * c->units, TRAIN_BIT_APART, code, code);
}

/* Loss and gradient of all rows of a step. */
static taper_status compare(train_nested_classes *c, train_stream *s, size_t rows, double *losses) {
    const train_objective *o = &train_prefixes_objective;
    const train_examples e = {
        .rows = rows, .units = c->units, .code = c->code, .scale = 1.0f, .label = c->known};
    const size_t n = rows * c->units;
    TAPER_TRY(train_upload(s, c->known, c->label, rows * sizeof *c->known));
    TAPER_TRY(train_zero(s, c->row, rows * sizeof *c->row));
    TAPER_TRY(train_zero(s, c->gradient, n * sizeof *c->gradient));
    TAPER_TRY(o->loss(&c->of, s, &e, c->row, c->total + 1));
    TAPER_TRY(o->gradient(&c->of, s, &e, c->gradient));
    TAPER_TRY(s->ops->scale(s, n, c->weight * TRAIN_BIT_APART, c->gradient, c->gradient));
    if (!train_is_first(c->ranks)) return TAPER_OK;
    TAPER_TRY(s->ops->sum_doubles(s, rows, c->row, c->total));
    return s->ops->add_doubles(s, 1, (double)c->weight / (double)rows, c->total, losses);
}

/* Every rank computes all pairs: their codes are short. */
taper_status train_nested_classes_compare(train_nested_classes *c, train_stream *s, size_t n,
                                          size_t of, double *losses) {
    TAPER_TRY(train_share_rows_there(s, c->ranks, c->code, c->units, c->position, n, of, NULL));
    TAPER_TRY(compare(c, s, c->ranks ? of : n, losses));
    return train_pack_rows_there(s, c->ranks, c->gradient, c->units, c->position, n, of, NULL);
}

taper_status train_nested_classes_pull(train_nested_rows *block, size_t n, float *da) {
    const train_nested_network *net = block->net;
    train_stream *s = &block->net->stream;
    const train_nested_classes *c = block->step->classes;
    const uint32_t active = net->act.active, d = c->units;
    const train_units units = train_nested_units(net, n, d, NULL, 1);
    TAPER_TRY(s->ops->copy_columns(s, n, d, net->act.pre, active, c->pre, d));
    TAPER_TRY(
        s->ops->unit_gradient(s, &units, 0, c->pre, c->gradient + block->first_row * d, c->own));
    TAPER_TRY(s->ops->copy_columns(s, n, d, da, active, c->sum, d));
    TAPER_TRY(s->ops->axpy(s, n * d, 1.0f, c->own, c->sum));
    return s->ops->copy_columns(s, n, d, c->sum, d, da, active);
}
