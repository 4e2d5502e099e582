/* restoration.c -- memory and serialised form of a restoration network; see restoration.h. */
#include "codec/transform/restoration.h"
#include <stdlib.h>
#include <string.h>

enum { TAPS = CODEC_RESTORATION_TAPS };

/* --- memory ---------------------------------------------------------------------------- */

static int shape_is_legal(const codec_restoration *r) {
    return (r->channels == 1 || r->channels == 3) && r->hidden >= 8 && r->hidden % 8 == 0 &&
           r->hidden <= CODEC_RESTORATION_MOST_HIDDEN && r->layers >= 2 &&
           r->layers <= CODEC_RESTORATION_MOST_LAYERS && r->stages >= 1 &&
           r->stages <= CODEC_RESTORATION_MOST_STAGES;
}

static int alloc_layer(codec_convolution *c, uint32_t inputs, uint32_t outputs, int first) {
    c->inputs = inputs, c->outputs = outputs, c->bytes = !first;
    c->weight = calloc((size_t)outputs * TAPS * inputs, sizeof *c->weight);
    c->shift = calloc(outputs, 1);
    c->bias = first ? NULL : calloc(outputs, sizeof *c->bias);
    return c->weight && c->shift && (first || c->bias);
}

taper_status codec_restoration_alloc(codec_restoration *r) {
    if (!shape_is_legal(r)) return TAPER_ERR_ARG;
    uint32_t values = codec_restoration_values(r->channels);
    r->at = calloc(r->stages, sizeof *r->at);
    r->stage = calloc((size_t)r->stages * r->hidden, sizeof *r->stage);
    r->gain = calloc(r->stages, sizeof *r->gain);
    int ok = r->at && r->stage && r->gain;
    for (uint32_t l = 0; l < r->layers; l++)
        ok = alloc_layer(&r->layer[l], l ? r->hidden : values,
                         l + 1 < r->layers ? r->hidden : values, l == 0) &&
             ok;
    if (ok) return TAPER_OK;
    codec_restoration_free(r);
    return TAPER_ERR_NOMEM;
}

taper_status codec_restoration_pack(codec_restoration *r) {
    for (uint32_t l = 0; l < r->layers; l++) TAPER_TRY(codec_convolution_pack(&r->layer[l]));
    return TAPER_OK;
}

void codec_restoration_free(codec_restoration *r) {
    free(r->at), free(r->stage), free(r->gain);
    for (uint32_t l = 0; l < CODEC_RESTORATION_MOST_LAYERS; l++) {
        codec_convolution *c = &r->layer[l];
        free(c->weight), free(c->shift), free(c->bias), free(c->packed), free(c->quads),
            free(c->shifts);
    }
    *r = (codec_restoration){0};
}

/* --- serialised form ------------------------------------------------------------------- */

/* List the matrices in file order; returns their number. */
enum { MATRICES = 2 + 2 * CODEC_RESTORATION_MOST_LAYERS };
static int list_matrices(const codec_restoration *r, codec_int_matrix m[MATRICES]) {
    enum { BIAS = CODEC_RESTORATION_MOST_BIAS, GAIN = CODEC_RESTORATION_MOST_GAIN };
    uint32_t h = r->hidden;
    int n = 0;
    m[n++] = (codec_int_matrix){.i32 = r->stage,
                                .rows = r->stages,
                                .columns = h,
                                .row_stride = h,
                                .column_stride = 1,
                                .most = BIAS};
    m[n++] = (codec_int_matrix){
        .i32 = r->gain, .rows = 1, .columns = r->stages, .column_stride = 1, .most = GAIN};
    for (uint32_t l = 0; l < r->layers; l++) {
        const codec_convolution *c = &r->layer[l];
        uint32_t inputs = TAPS * c->inputs;
        m[n++] = (codec_int_matrix){.i16 = c->weight,
                                    .rows = c->outputs,
                                    .columns = inputs,
                                    .row_stride = inputs,
                                    .column_stride = 1,
                                    .shift = c->shift,
                                    .most = c->bytes ? CODEC_RESTORATION_MOST_BYTE_WEIGHT
                                                     : CODEC_RESTORATION_MOST_WEIGHT};
        if (c->bias)
            m[n++] = (codec_int_matrix){
                .i32 = c->bias, .rows = 1, .columns = c->outputs, .column_stride = 1, .most = BIAS};
    }
    return n;
}

taper_status codec_restoration_write(const codec_restoration *r, formats_buffer *out) {
    formats_write_u8(out, CODEC_RESTORATION_KIND);
    formats_write_u8(out, (uint8_t)r->hidden);
    formats_write_u8(out, (uint8_t)r->layers);
    formats_write_u8(out, (uint8_t)r->stages);
    for (uint32_t s = 1; s < r->stages; s++) formats_write_varint(out, r->at[s] - r->at[s - 1]);
    codec_int_matrix matrix[MATRICES];
    int matrices = list_matrices(r, matrix);
    for (int i = 0; i < matrices; i++) TAPER_TRY(codec_int_matrix_write(&matrix[i], out));
    return out->status;
}

/* The size as floats, which the limit on models uses. */
static uint64_t weight_bytes(const codec_restoration *r) {
    uint64_t h = r->hidden, values = codec_restoration_values(r->channels);
    uint64_t weights = TAPS * h * (2 * values + (r->layers - 2) * h),
             biases = (r->stages + r->layers - 2) * h + values;
    return (weights + biases + r->stages) * sizeof(float);
}

/* Read the passes of the stages. */
static taper_status read_passes(codec_restoration *r, uint32_t passes, formats_cursor *in,
                                taper_error *error) {
    for (uint32_t s = 1; s < r->stages; s++) {
        uint64_t step = formats_read_varint_max(in, passes);
        r->at[s] = r->at[s - 1] + (uint32_t)step;
        if (!step || r->at[s] > passes)
            return formats_fail(
                error, TAPER_ERR_CORRUPT,
                "model: stage %u of the restoration network does not follow its predecessor", s);
    }
    return formats_cursor_check(in, "model: stages", error);
}

taper_status codec_restoration_read(codec_restoration *r, uint32_t channels, uint32_t passes,
                                    uint64_t max_bytes, formats_cursor *in, taper_error *error) {
    *r = (codec_restoration){.channels = channels};
    uint8_t kind = formats_read_u8(in);
    if (kind >= 8 && kind % 8 == 0)
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "model: its restoration network is of an older taper, whose pixels were "
            "not integers; train the model again");
    r->hidden = formats_read_u8(in);
    r->layers = formats_read_u8(in);
    r->stages = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "model: restoration network", error));
    if (kind != CODEC_RESTORATION_KIND)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "model: a restoration network of kind %u, which this build does not "
                            "know; update taper",
                            kind);
    if (!shape_is_legal(r))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: a restoration network of %u layers, %u hidden channels and %u "
                            "stages is not legal",
                            r->layers, r->hidden, r->stages);
    if (weight_bytes(r) > max_bytes)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MODEL_BYTES, weight_bytes(r),
            "model: a restoration network of %llu bytes, more than the limit of %llu",
            (unsigned long long)weight_bytes(r), (unsigned long long)max_bytes);
    if (codec_restoration_alloc(r) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a restoration network");
    taper_status status = read_passes(r, passes, in, error);
    codec_int_matrix matrix[MATRICES];
    int matrices = list_matrices(r, matrix);
    for (int i = 0; i < matrices && status == TAPER_OK; i++)
        status = codec_int_matrix_read(&matrix[i], in, error);
    if (status == TAPER_OK && codec_restoration_pack(r) != TAPER_OK)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a restoration network");
    if (status != TAPER_OK) codec_restoration_free(r);
    return status;
}
