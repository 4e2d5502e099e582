/* conditional.c -- memory and serialised form of a conditional model; see conditional.h. */
#include "codec/bitplane/conditional.h"
#include "codec/backend/int8_dot.h"
#include "codec/entropy/int_matrix.h"
#include <stdlib.h>
#include <string.h>

enum { SIDES = CODEC_CONDITIONAL_SIDES, MIDDLES = CODEC_CONDITIONAL_MIDDLES };

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
    size_t h = c->hidden, outputs = (size_t)c->units * c->kinds;
    int ok = zeroed(&c->begin, c->stages, sizeof *c->begin) &&
             zeroed(&c->first, codec_conditional_inputs(c->own, c->neighbour_units) * 2 * h, 1) &&
             zeroed(&c->pairs, codec_conditional_inputs(c->own, c->neighbour_units) * 2 * h, 1) &&
             zeroed(&c->first_shift, h, 1) && zeroed(&c->place, SIDES * h, sizeof *c->place) &&
             zeroed(&c->stage, c->stages * h, sizeof *c->stage) &&
             zeroed(&c->out, outputs * h, sizeof *c->out) && zeroed(&c->out_shift, outputs, 1) &&
             zeroed(&c->bias, (size_t)c->kinds * c->end, sizeof *c->bias);
    for (int i = 0; i < MIDDLES; i++)
        ok = ok && zeroed(&c->middle[i], h * h, sizeof *c->middle[i]) &&
             zeroed(&c->quads[i], h * h, sizeof *c->quads[i]) &&
             zeroed(&c->middle_shift[i], h, 1) &&
             zeroed(&c->middle_bias[i], h, sizeof *c->middle_bias[i]);
    if (c->kinds == 1) ok = ok && zeroed(&c->out_quads, (outputs + 7) / 8 * 8 * h, 1);
    if (ok) return TAPER_OK;
    codec_conditional_free(c);
    return TAPER_ERR_NOMEM;
}

void codec_conditional_free(codec_conditional *c) {
    free(c->begin), free(c->first), free(c->pairs), free(c->first_shift), free(c->place),
        free(c->stage);
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
    if (c->out_quads) pack_out(c);
}

/* --- serialised form ------------------------------------------------------------------- */

/* List the matrices in file order; returns their number. */
enum { MATRICES = 9 };
static int list_matrices(const codec_conditional *c, codec_int_matrix m[MATRICES]) {
    enum { WEIGHT = 127, BIAS = CODEC_CONDITIONAL_MOST_BIAS };
    uint32_t h = c->hidden, inputs = 2 * codec_conditional_inputs(c->own, c->neighbour_units);
    int n = 0;
    m[n++] = (codec_int_matrix){c->first, NULL, NULL, h, inputs, 1, h, c->first_shift, WEIGHT};
    m[n++] = (codec_int_matrix){NULL, NULL, c->place, SIDES, h, h, 1, NULL, BIAS};
    m[n++] = (codec_int_matrix){NULL, NULL, c->stage, c->stages, h, h, 1, NULL, BIAS};
    for (int i = 0; i < MIDDLES; i++) {
        m[n++] =
            (codec_int_matrix){c->middle[i], NULL, NULL, h, h, 1, h, c->middle_shift[i], WEIGHT};
        m[n++] = (codec_int_matrix){NULL, NULL, c->middle_bias[i], 1, h, h, 1, NULL, BIAS};
    }
    m[n++] =
        (codec_int_matrix){c->out, NULL, NULL, c->units * c->kinds, h, h, 1, c->out_shift, WEIGHT};
    if (c->kinds > 1)
        m[n++] = (codec_int_matrix){NULL, NULL, c->bias, c->kinds, c->end, c->end, 1, NULL, BIAS};
    return n;
}

taper_status codec_conditional_write(const codec_conditional *c, formats_buffer *out) {
    formats_write_u16le(out, (uint16_t)c->hidden);
    formats_write_u16le(out, (uint16_t)c->own);
    formats_write_u16le(out, (uint16_t)c->neighbour_units);
    formats_write_varint(out, c->end);
    formats_write_u8(out, (uint8_t)c->stages);
    for (uint32_t s = 1; s < c->stages; s++)
        formats_write_varint(out, c->begin[s] - c->begin[s - 1]);
    codec_int_matrix matrix[MATRICES];
    int matrices = list_matrices(c, matrix);
    for (int i = 0; i < matrices; i++) TAPER_TRY(codec_int_matrix_write(&matrix[i], out));
    return out->status;
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

taper_status codec_conditional_read(codec_conditional *c, uint32_t kinds, uint32_t units,
                                    uint32_t passes, uint64_t max_bytes, formats_cursor *in,
                                    taper_error *error) {
    TAPER_TRY(read_shape(c, kinds, units, passes, in, error));
    uint64_t bytes = weight_bytes(c);
    if (bytes > max_bytes) {
        *c = (codec_conditional){0};
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "model: a conditional model of %llu bytes, more than the limit of "
                            "%llu; give --max-model %llu if you trust it",
                            (unsigned long long)bytes, (unsigned long long)max_bytes,
                            (unsigned long long)bytes);
    }
    if (codec_conditional_alloc(c) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a conditional model");
    taper_status status = TAPER_OK;
    for (uint32_t s = 1; s < c->stages && status == TAPER_OK; s++) {
        uint64_t step = formats_read_varint_max(in, c->end);
        c->begin[s] = c->begin[s - 1] + (uint32_t)step;
        if (!step || c->begin[s] >= c->end)
            status = formats_fail(
                error, TAPER_ERR_CORRUPT,
                "model: stage %u of the conditional model does not follow its predecessor", s);
    }
    if (status == TAPER_OK) status = formats_cursor_check(in, "model: stages", error);
    codec_int_matrix matrix[MATRICES];
    int matrices = list_matrices(c, matrix);
    for (int i = 0; i < matrices && status == TAPER_OK; i++)
        status = codec_int_matrix_read(&matrix[i], in, error);
    if (status != TAPER_OK)
        codec_conditional_free(c);
    else
        codec_conditional_pack(c);
    return status;
}
