/* nested_errors.c -- codes and errors, block after block; see nested_errors.h. */
#include "train/nested/nested_errors.h"
#include <stdlib.h>
#include <string.h>

/* --- data ------------------------------------------------------------------------------ */

taper_status train_nested_source_open(train_nested_source *source, train_nested_network *net,
                                      const train_pixels *pixels, const uint32_t *order, size_t n) {
    train_stream *s = &net->stream;
    *source = (train_nested_source){0};
    TAPER_TRY(train_feed_open(&source->feed, s, pixels->pixels, pixels->n, pixels->inputs,
                              net->act.block));
    taper_status status = order ? train_order_open(&source->order, s, order, n) : TAPER_OK;
    if (status == TAPER_OK)
        source->data =
            (train_nested_data){&source->feed, order ? &source->order : NULL, 0, n, NULL, n};
    else
        train_nested_source_close(source);
    return status;
}

void train_nested_source_close(train_nested_source *source) {
    train_feed_close(&source->feed);
    train_order_free(&source->order);
    *source = (train_nested_source){0};
}

taper_status train_nested_rows_from(train_nested_network *net, const train_nested_data *data,
                                    size_t i, size_t n, train_nested_rows *rows) {
    train_fed fed;
    TAPER_TRY(train_feed_take(data->feed, &net->stream, data->order, data->first + i, n, &fed));
    *rows = (train_nested_rows){net, NULL, fed.rows, fed.order, 0, 1};
    return TAPER_OK;
}

/* The array for the full codes of a block; their columns are packed in front of it. */
static float *whole_codes(const train_nested_network *net) {
    return net->act.packed + net->act.block * net->units;
}

static taper_status pack_units(train_nested_network *net, size_t n, uint32_t from, uint32_t to) {
    return net->stream.ops->copy_columns(&net->stream, n, to - from, whole_codes(net) + from,
                                         net->units, net->act.packed, to - from);
}

/* From packed columns to g_0. */
static taper_status decode(train_nested_rows *rows, size_t n, uint32_t units) {
    const train_nested_activations *act = &rows->net->act;
    return train_nested_decode_block(rows, act->packed, n, units, act->back_hidden[0]);
}

/* --- codes ----------------------------------------------------------------------------- */

/* The inputs and pre-activations of n rows. */
static taper_status take_rows(train_nested_rows *rows, size_t n) {
    TAPER_TRY(train_nested_load(rows, n, 0));
    return train_nested_encode_block(rows, rows->net->act.input, n, rows->net->units);
}

taper_status train_nested_encode_rows(train_nested_rows *rows, size_t n, float *code) {
    TAPER_TRY(take_rows(rows, n));
    return train_nested_decide(rows, 0, n, rows->net->units, NULL, code);
}

taper_status train_nested_codes(train_nested_network *net, const train_nested_data *data,
                                int preactivation, float *codes) {
    const train_nested_activations *act = &net->act;
    for (size_t i = 0; i < data->n; i += act->block) {
        train_nested_rows rows;
        size_t n = formats_smaller(act->block, data->n - i);
        TAPER_TRY(train_nested_rows_from(net, data, i, n, &rows));
        TAPER_TRY(take_rows(&rows, n));
        if (!preactivation)
            TAPER_TRY(train_nested_decide(&rows, 0, n, net->units, NULL, act->packed));
        TAPER_TRY(train_download(&net->stream, codes + i * net->units,
                                 preactivation ? act->pre : act->packed,
                                 n * net->units * sizeof *codes));
    }
    return TAPER_OK;
}

taper_status train_nested_decode(train_nested_network *net, const float *codes, size_t n,
                                 uint32_t kept, float *pixels) {
    const size_t d = net->shape.inputs, block = net->act.block;
    train_stream *s = &net->stream;
    float *mean = malloc(d * sizeof *mean);
    taper_status status =
        mean ? train_download(s, mean, net->mean, d * sizeof *mean) : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n && status == TAPER_OK; i += block) {
        train_nested_rows rows = {net, NULL, NULL, NULL, 0, 1};
        size_t m = formats_smaller(block, n - i);
        float *to = pixels + i * d;
        status = train_upload(s, whole_codes(net), codes + i * net->units,
                              m * net->units * sizeof *codes);
        if (status == TAPER_OK) status = pack_units(net, m, 0, kept);
        if (status == TAPER_OK) status = decode(&rows, m, kept);
        if (status == TAPER_OK)
            status = train_download(s, to, net->act.back_hidden[0], m * d * sizeof *to);
        for (size_t j = 0; j < m * d && status == TAPER_OK; j++)
            to[j] = mean[j % d] + net->scale * to[j];
    }
    free(mean);
    return status;
}

/* --- errors ---------------------------------------------------------------------------- */

/* A linear decoder goes from one length to the next by adding the contribution of the units
 * between them. */
static taper_status add_units(train_nested_network *net, size_t n, uint32_t from, uint32_t to) {
    const train_nested_layer *y = &net->layer[0];
    TAPER_TRY(pack_units(net, n, from, to));
    return net->stream.ops->gemm(&net->stream, 0, 0, n, y->inputs, to - from, net->act.packed,
                                 y->v + (size_t)from * y->inputs, 1.0f, net->act.back_hidden[0]);
}

/* The decoder's input for n rows; a prefix of it is that of a prefix of the code. */
static taper_status whole(train_nested_rows *rows, size_t n) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    float *to = whole_codes(net);
    if (!net->mixed) return train_nested_encode_rows(rows, n, to);
    TAPER_TRY(train_nested_encode_rows(rows, n, net->act.packed));
    return s->ops->mix(s, n, net->units, net->mixing, net->units, net->act.packed, to);
}

/* Squared errors of a block's n rows at each length into squares[lengths]. They are downloaded
 * together, so that the host waits only once. */
static taper_status errors_of_block(train_nested_rows *rows, const uint32_t *length, size_t lengths,
                                    double *squares) {
    train_nested_network *net = rows->net;
    train_stream *s = &net->stream;
    train_nested_activations *act = &net->act;
    float *g_0 = act->back_hidden[0];
    const size_t n = act->n;
    const int linear = net->shape.layers == 1;
    TAPER_TRY(decode(rows, n, 0));
    /* errors at length 0, the start for linear decoders */
    TAPER_TRY(train_nested_error_block(rows, 1.0f, g_0, g_0));
    for (size_t i = 0; i < lengths; i++) {
        uint32_t before = i ? length[i - 1] : 0;
        if (length[i] > before && linear) TAPER_TRY(add_units(net, n, before, length[i]));
        if (length[i] > before && !linear) {
            TAPER_TRY(pack_units(net, n, 0, length[i]));
            TAPER_TRY(decode(rows, n, length[i]));
            TAPER_TRY(train_nested_error_block(rows, 1.0f, g_0, g_0));
        }
        const size_t at = i % TRAIN_NESTED_LENGTHS;
        TAPER_TRY(s->ops->sum_squares(s, n * net->shape.inputs, g_0, 0, net->squares + at));
        if (at + 1 == TRAIN_NESTED_LENGTHS || i + 1 == lengths)
            TAPER_TRY(
                train_download(s, squares + i - at, net->squares, (at + 1) * sizeof *squares));
    }
    return TAPER_OK;
}

taper_status train_nested_errors(train_nested_network *net, const train_nested_data *data,
                                 const uint32_t *length, size_t lengths, double *mse) {
    for (size_t i = 0; i < lengths; i++)
        if (length[i] > net->units || (i && length[i] < length[i - 1])) return TAPER_ERR_ARG;
    const size_t block = net->act.block;
    double *squares = calloc(lengths ? lengths : 1, sizeof *squares);
    taper_status status = squares ? TAPER_OK : TAPER_ERR_NOMEM;
    memset(mse, 0, lengths * sizeof *mse);
    for (size_t i = 0; i < data->n && status == TAPER_OK; i += block) {
        train_nested_rows rows;
        size_t n = formats_smaller(block, data->n - i);
        status = train_nested_rows_from(net, data, i, n, &rows);
        if (status == TAPER_OK) status = whole(&rows, n);
        if (status == TAPER_OK) status = errors_of_block(&rows, length, lengths, squares);
        for (size_t j = 0; j < lengths; j++) mse[j] += squares[j] / (double)net->shape.inputs;
    }
    free(squares);
    if (status == TAPER_OK) status = train_sum_doubles(data->ranks, mse, lengths, NULL);
    const size_t of = data->ranks ? data->of : data->n;
    for (size_t i = 0; i < lengths; i++)
        mse[i] *= (double)net->scale * net->scale / (double)(of ? of : 1);
    return status;
}

taper_status train_nested_validate(train_nested_network *net, const train_truncation *truncation,
                                   const train_nested_data *data, double *expected, double *full) {
    enum { PLACES = 64 };
    uint32_t length[PLACES + 1], lengths = 0, units = net->units;
    for (uint32_t i = 0; i <= PLACES; i++) {
        /* closer for short lengths, where the error falls fast */
        double at = (double)i / PLACES;
        uint32_t b = truncation ? (uint32_t)(units * at * at + 0.5) : units;
        if (!lengths || b > length[lengths - 1]) length[lengths++] = b;
    }
    double mse[PLACES + 1];
    TAPER_TRY(train_nested_errors(net, data, length, lengths, mse));
    *full = *expected = mse[lengths - 1];
    if (!truncation) return TAPER_OK;
    double sum = 0.0;
    for (uint32_t b = 1, at = 1; b <= units; b++) {
        while (length[at] < b) at++;
        double part = (double)(b - length[at - 1]) / (length[at] - length[at - 1]);
        sum += truncation->mass[b - 1] * (mse[at - 1] + part * (mse[at] - mse[at - 1]));
    }
    *expected = sum;
    return TAPER_OK;
}
