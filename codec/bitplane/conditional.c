/* conditional.c -- memory and serialised form of a conditional model; see conditional.h. */
#include "codec/bitplane/conditional.h"
#include "codec/backend/int8_dot.h"
#include "codec/backend/sparse_sum.h"
#include "codec/entropy/int_matrix.h"
#include "codec/window.h"
#include <stdlib.h>
#include <string.h>

enum {
    SIDES = CODEC_CONDITIONAL_SIDES,
    BORDERS = CODEC_CONDITIONAL_BORDERS,
    MIDDLES = CODEC_CONDITIONAL_MIDDLES
};

/* --- memory ---------------------------------------------------------------------------- */

static int shape_is_legal(const codec_conditional *c) {
    return (c->kinds == 1 || c->kinds == CODEC_CONDITIONAL_KINDS) && c->hidden >= 8 &&
           c->hidden <= CODEC_CONDITIONAL_MOST_HIDDEN && c->hidden % 8 == 0 && c->own >= 1 &&
           c->own <= CODEC_CONDITIONAL_MOST_UNITS && c->own <= c->units &&
           c->neighbour_units <= c->own && c->stages >= 1 &&
           c->stages <= CODEC_CONDITIONAL_MOST_STAGES && c->stages <= c->end;
}

static int zeroed(void *out, size_t n, size_t size) {
    void *p = calloc(n, size);
    memcpy(out, &p, sizeof p);
    return p != NULL;
}

taper_status codec_conditional_alloc(codec_conditional *c) {
    if (!shape_is_legal(c)) return TAPER_ERR_ARG;
    size_t h = c->hidden, outputs = (size_t)c->units * c->kinds,
           inputs = codec_conditional_inputs(c->own, c->neighbour_units);
    int ok = zeroed(&c->begin, c->stages, sizeof *c->begin) &&
             zeroed(&c->first, inputs * 2 * h, 1) && zeroed(&c->pairs, inputs * 2 * h, 1) &&
             zeroed(&c->first_shift, h, 1) && zeroed(&c->place, SIDES * h, sizeof *c->place) &&
             zeroed(&c->border, BORDERS * h, sizeof *c->border) &&
             zeroed(&c->stage, c->stages * h, sizeof *c->stage) &&
             zeroed(&c->out, outputs * h, sizeof *c->out) && zeroed(&c->out_shift, outputs, 1) &&
             zeroed(&c->bias, (size_t)c->kinds * c->end, sizeof *c->bias);
    for (int i = 0; i < MIDDLES; i++)
        ok = ok && zeroed(&c->middle[i], h * h, sizeof *c->middle[i]) &&
             zeroed(&c->quads[i], h * h, sizeof *c->quads[i]) &&
             zeroed(&c->middle_shift[i], h, 1) &&
             zeroed(&c->middle_bias[i], h, sizeof *c->middle_bias[i]);
    if (c->kinds == 1)
        ok = ok && zeroed(&c->out_quads, (outputs + 7) / 8 * 8 * h, 1) &&
             zeroed(&c->wide, inputs * codec_sparse_lanes(c->hidden) * 2, sizeof *c->wide);
    if (ok) return TAPER_OK;
    codec_conditional_free(c);
    return TAPER_ERR_NOMEM;
}

void codec_conditional_free(codec_conditional *c) {
    free(c->begin), free(c->first), free(c->pairs), free(c->first_shift), free(c->place),
        free(c->border), free(c->stage), free(c->wide);
    for (int i = 0; i < MIDDLES; i++)
        free(c->middle[i]), free(c->quads[i]), free(c->middle_shift[i]), free(c->middle_bias[i]);
    free(c->out), free(c->out_quads), free(c->out_shift), free(c->bias);
    *c = (codec_conditional){0};
}

static void pack_out(codec_conditional *c) {
    for (uint32_t u = 0; u < c->units; u++) {
        uint32_t first = u - u % CODEC_CONDITIONAL_OUT_LANES,
                 lanes = codec_conditional_out_lanes(c, first);
        int8_t *matrix = c->out_quads + (size_t)first * c->hidden;
        for (uint32_t i = 0; i < c->hidden; i++)
            matrix[codec_quad_at(lanes, i, u - first)] = c->out[(size_t)u * c->hidden + i];
    }
}

static void pack_wide(codec_conditional *c) {
    const size_t inputs = codec_conditional_inputs(c->own, c->neighbour_units), row = 2 * c->hidden,
                 wide_row = 2 * codec_sparse_lanes(c->hidden);
    for (size_t i = 0; i < inputs; i++)
        for (size_t k = 0; k < row; k++) c->wide[i * wide_row + k] = c->pairs[i * row + k];
}

/* Nonzero if a window with this border mask has a neighbour on this side. */
static int has_side(uint32_t border, uint32_t side) {
    uint32_t x = side % 3, y = side / 3;
    return (x != 0 || border & 1u << CODEC_LEFT) && (x != 2 || border & 1u << CODEC_RIGHT) &&
           (y != 0 || border & 1u << CODEC_UP) && (y != 2 || border & 1u << CODEC_DOWN);
}

static void pack_border(codec_conditional *c, uint32_t border) {
    int32_t *sum = c->border + (size_t)border * c->hidden;
    memset(sum, 0, c->hidden * sizeof *sum);
    for (uint32_t side = 0; side < SIDES; side++)
        for (uint32_t h = 0; has_side(border, side) && h < c->hidden; h++)
            sum[h] += c->place[(size_t)side * c->hidden + h];
}

void codec_conditional_pack(codec_conditional *c) {
    size_t inputs = codec_conditional_inputs(c->own, c->neighbour_units), h = c->hidden;
    for (size_t i = 0; i < inputs; i++)
        for (size_t o = 0; o < h; o++)
            for (size_t part = 0; part < 2; part++)
                c->pairs[(i * h + o) * 2 + part] = c->first[(i * 2 + part) * h + o];
    for (int l = 0; l < MIDDLES; l++)
        for (uint32_t i = 0; i < c->hidden; i++)
            for (uint32_t o = 0; o < c->hidden; o++)
                c->quads[l][codec_quad_at(c->hidden, i, o)] = c->middle[l][i * c->hidden + o];
    if (c->out_quads) pack_out(c), pack_wide(c);
    for (uint32_t border = 0; border < BORDERS; border++) pack_border(c, border);
}

/* --- serialised form ------------------------------------------------------------------- */

typedef codec_int_matrix matrix;
enum { WEIGHT = 127, BIAS = CODEC_CONDITIONAL_MOST_BIAS, MATRICES = 5 };

/* List the matrices of the common part in file order; returns their number. */
static int list_common(const codec_conditional *c, matrix m[MATRICES]) {
    uint32_t h = c->hidden;
    int n = 0;
    m[n++] = (matrix){.i32 = c->place, .rows = SIDES, .columns = h, .row_stride = h, .most = BIAS};
    for (int i = 0; i < MIDDLES; i++) {
        m[n++] = (matrix){.i8 = c->middle[i],
                          .rows = h,
                          .columns = h,
                          .row_stride = 1,
                          .column_stride = h,
                          .shift = c->middle_shift[i],
                          .most = WEIGHT};
        m[n++] = (matrix){.i32 = c->middle_bias[i], .rows = 1, .columns = h, .most = BIAS};
    }
    for (int i = 0; i < n; i++)
        if (!m[i].shift) m[i].column_stride = 1;
    return n;
}

/* Where the part of a set lies in the network. */
typedef struct set_places {
    uint32_t *column, columns; /* of `first` */
    uint32_t *row, rows;       /* of `out` */
} set_places;

static void free_places(set_places *p) { free(p->column), free(p->row); }

static void list_columns(const codec_conditional *c, const codec_unit_set *set, uint32_t side,
                         set_places *p) {
    uint32_t seen = side == CODEC_CONDITIONAL_SELF ? c->own : c->neighbour_units;
    for (uint32_t i = 0; i < set->n && set->unit[i] < seen; i++)
        for (uint32_t part = 0; part < 2; part++)
            p->column[p->columns++] =
                2 * codec_conditional_input(c->own, c->neighbour_units, side, set->unit[i]) + part;
}

static taper_status list_places(const codec_conditional *c, const codec_unit_set *set,
                                set_places *p) {
    size_t inputs = codec_conditional_inputs(c->own, c->neighbour_units);
    *p = (set_places){0};
    p->column = malloc(2 * inputs * sizeof *p->column);
    p->row = malloc((size_t)set->n * c->kinds * sizeof *p->row);
    if (!p->column || !p->row) {
        free_places(p);
        return TAPER_ERR_NOMEM;
    }
    list_columns(c, set, CODEC_CONDITIONAL_SELF, p);
    for (uint32_t side = 0; side < SIDES; side++)
        if (side != CODEC_CONDITIONAL_SELF) list_columns(c, set, side, p);
    for (uint32_t i = 0; i < set->n; i++)
        for (uint32_t kind = 0; kind < c->kinds; kind++)
            p->row[p->rows++] = set->unit[i] * c->kinds + kind;
    return TAPER_OK;
}

/* The matrices of a set in file order, without those that have no rows or columns. */
static int list_set(const codec_conditional *c, const codec_unit_set *set, const set_places *p,
                    matrix m[MATRICES]) {
    uint32_t h = c->hidden, end = set->end < c->end ? set->end : c->end, from = 0, to = 0;
    int n = 0;
    for (uint32_t s = 0; s < c->stages; s++) from += c->begin[s] < set->begin;
    for (uint32_t s = 0; s < c->stages; s++) to += c->begin[s] < end;
    m[n] = (matrix){.i8 = c->first, .rows = h, .columns = p->columns, .row_stride = 1};
    m[n].column_stride = h, m[n].most = WEIGHT;
    m[n].column_at = p->column;
    n += p->columns > 0;
    m[n] = (matrix){.i32 = c->stage + (size_t)from * h, .rows = to - from, .columns = h};
    m[n].row_stride = h, m[n].column_stride = 1, m[n].most = BIAS;
    n += from < to;
    m[n] = (matrix){.i8 = c->out, .rows = p->rows, .columns = h, .row_stride = h};
    m[n].column_stride = 1, m[n].shift = c->out_shift, m[n].most = WEIGHT;
    m[n++].row_at = p->row;
    if (c->kinds == 1 || set->begin >= end) return n;
    m[n] = (matrix){.i32 = c->bias + set->begin, .rows = c->kinds, .columns = end - set->begin};
    m[n].row_stride = c->end, m[n].column_stride = 1, m[n].most = BIAS;
    return n + 1;
}

taper_status codec_conditional_write_common(const codec_conditional *c, formats_buffer *out) {
    formats_write_u16le(out, (uint16_t)c->hidden);
    formats_write_u16le(out, (uint16_t)c->own);
    formats_write_u16le(out, (uint16_t)c->neighbour_units);
    formats_write_varint(out, c->end);
    formats_write_u8(out, (uint8_t)c->stages);
    for (uint32_t s = 1; s < c->stages; s++)
        formats_write_varint(out, c->begin[s] - c->begin[s - 1]);
    formats_write_bytes(out, c->first_shift, c->hidden);
    matrix m[MATRICES];
    int matrices = list_common(c, m);
    for (int i = 0; i < matrices; i++) TAPER_TRY(codec_int_matrix_write(&m[i], out));
    return out->status;
}

taper_status codec_conditional_write_set(const codec_conditional *c, codec_unit_set set,
                                         formats_buffer *out) {
    set_places places;
    TAPER_TRY(list_places(c, &set, &places));
    matrix m[MATRICES];
    int matrices = list_set(c, &set, &places, m);
    taper_status status = out->status;
    for (int i = 0; i < matrices && status == TAPER_OK; i++)
        status = codec_int_matrix_write(&m[i], out);
    free_places(&places);
    return status;
}

/* All units and passes of the network. *unit: the caller's to free; NULL: no memory. */
static codec_unit_set whole_set(const codec_conditional *c, uint32_t **unit) {
    *unit = malloc(c->units * sizeof **unit);
    for (uint32_t u = 0; *unit && u < c->units; u++) (*unit)[u] = u;
    return (codec_unit_set){*unit, c->units, 0, c->end};
}

taper_status codec_conditional_write(const codec_conditional *c, formats_buffer *out) {
    uint32_t *unit;
    codec_unit_set all = whole_set(c, &unit);
    taper_status status = unit ? codec_conditional_write_common(c, out) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = codec_conditional_write_set(c, all, out);
    free(unit);
    return status;
}

/* The size as floats, which the limit on models uses. */
static uint64_t weight_bytes(const codec_conditional *c) {
    uint64_t h = c->hidden,
             inputs = 2 * (uint64_t)codec_conditional_inputs(c->own, c->neighbour_units);
    uint64_t weights = inputs * h + (SIDES + c->stages) * h + MIDDLES * (h + 1) * h +
                       (uint64_t)c->units * c->kinds * h + (uint64_t)c->kinds * c->end;
    return weights * sizeof(float);
}

static taper_status read_shape(codec_conditional *c, uint32_t kinds, uint32_t units,
                               uint32_t passes, formats_cursor *in, taper_error *error) {
    *c = (codec_conditional){.kinds = kinds, .units = units};
    c->hidden = formats_read_u16le(in);
    c->own = formats_read_u16le(in);
    c->neighbour_units = formats_read_u16le(in);
    c->end = (uint32_t)formats_read_varint_max(in, passes);
    c->stages = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "model: conditional model", error));
    if (!shape_is_legal(c))
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "model: a conditional model of %u hidden, %u and %u units and %u stages "
            "is not legal",
            c->hidden, c->own, c->neighbour_units, c->stages);
    return TAPER_OK;
}

/* The first pass of each stage, and the shifts of the first layer. */
static taper_status read_stages(codec_conditional *c, formats_cursor *in, taper_error *error) {
    for (uint32_t s = 1; s < c->stages; s++) {
        uint64_t step = formats_read_varint_max(in, c->end);
        c->begin[s] = c->begin[s - 1] + (uint32_t)step;
        if (!step || c->begin[s] >= c->end)
            return formats_fail(
                error, TAPER_ERR_CORRUPT,
                "model: stage %u of the conditional model does not follow its predecessor", s);
    }
    const uint8_t *shift = formats_read_bytes(in, c->hidden);
    TAPER_TRY(formats_cursor_check(in, "model: stages", error));
    memcpy(c->first_shift, shift, c->hidden);
    for (uint32_t i = 0; i < c->hidden; i++)
        if (shift[i] > CODEC_INT_MATRIX_MOST_SHIFT)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: a network's row has the shift %u, above %d", shift[i],
                                CODEC_INT_MATRIX_MOST_SHIFT);
    return TAPER_OK;
}

taper_status codec_conditional_read_common(codec_conditional *c, uint32_t kinds, uint32_t units,
                                           uint32_t passes, uint64_t max_bytes, formats_cursor *in,
                                           taper_error *error) {
    TAPER_TRY(read_shape(c, kinds, units, passes, in, error));
    uint64_t bytes = weight_bytes(c);
    if (bytes > max_bytes) {
        *c = (codec_conditional){0};
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MODEL_BYTES, bytes,
            "model: a conditional model of %llu bytes, more than the limit of %llu",
            (unsigned long long)bytes, (unsigned long long)max_bytes);
    }
    if (codec_conditional_alloc(c) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    taper_status status = read_stages(c, in, error);
    matrix m[MATRICES];
    int matrices = list_common(c, m);
    for (int i = 0; i < matrices && status == TAPER_OK; i++)
        status = codec_int_matrix_read(&m[i], in, error);
    if (status != TAPER_OK) codec_conditional_free(c);
    return status;
}

taper_status codec_conditional_read_set(codec_conditional *c, codec_unit_set set,
                                        formats_cursor *in, taper_error *error) {
    set_places places;
    if (list_places(c, &set, &places) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    matrix m[MATRICES];
    int matrices = list_set(c, &set, &places, m);
    taper_status status = TAPER_OK;
    for (int i = 0; i < matrices && status == TAPER_OK; i++)
        status = codec_int_matrix_read(&m[i], in, error);
    free_places(&places);
    return status;
}

taper_status codec_conditional_read(codec_conditional *c, uint32_t kinds, uint32_t units,
                                    uint32_t passes, uint64_t max_bytes, formats_cursor *in,
                                    taper_error *error) {
    uint32_t *unit;
    TAPER_TRY(codec_conditional_read_common(c, kinds, units, passes, max_bytes, in, error));
    codec_unit_set all = whole_set(c, &unit);
    taper_status status =
        unit ? codec_conditional_read_set(c, all, in, error)
             : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    free(unit);
    if (status != TAPER_OK)
        codec_conditional_free(c);
    else
        codec_conditional_pack(c);
    return status;
}
