/* nested_errors.c -- codes and errors, block after block; see nested_errors.h. */
#include "train/nested/nested_errors.h"
#include "train/nested/nested_forward.h"
#include <stdlib.h>
#include <string.h>

/* Rows i .. of data in their order. */
static train_nested_rows rows_from(train_nested_network *net, train_pixels *part,
                                   const uint32_t *order, size_t i) {
    if (!order) part->pixels += i * part->inputs;
    return (train_nested_rows){net, NULL, part, order ? order + i : NULL, 0, 1};
}

taper_status train_nested_codes(train_nested_network *net, const train_pixels *data,
                                const uint32_t *order, size_t n, int preactivation, float *codes) {
    train_nested_activations *act = net->act;
    for (size_t i = 0; i < n; i += TRAIN_NESTED_BLOCK) {
        train_pixels part = *data;
        train_nested_rows rows = rows_from(net, &part, order, i);
        size_t m = formats_smaller(TRAIN_NESTED_BLOCK, n - i);
        train_nested_load(&rows, m, 0);
        TAPER_TRY(train_nested_encode_block(&rows, act->centred, m, net->units));
        const float *a = act->pre;
        for (size_t j = 0; j < m * net->units; j++)
            codes[i * net->units + j] =
                preactivation ? a[j]
                              : train_nested_code_value(net, (uint32_t)(j % net->units), a[j]);
    }
    return TAPER_OK;
}

/* act->code = the first `kept` units of n codes. */
static void take_units(train_nested_network *net, const float *codes, size_t n, uint32_t kept) {
    for (size_t r = 0; r < n; r++)
        memcpy(net->act->code + r * kept, codes + r * net->units, kept * sizeof *codes);
}

/* A linear decoder goes from one length to the next by adding the rows of the units between. */
static taper_status add_units(train_nested_network *net, const float *code, size_t n, uint32_t from,
                              uint32_t to) {
    train_nested_activations *act = net->act;
    const train_nested_layer *y = &net->layer[0];
    for (size_t r = 0; r < n; r++)
        memcpy(act->packed + r * (to - from), code + r * net->units + from,
               (to - from) * sizeof *code);
    return net->be->ops->gemm(net->be, 0, 0, n, y->inputs, to - from, act->packed,
                              y->v + (size_t)from * y->inputs, 1.0f, act->back_hidden[0]);
}

/* Errors of the n rows that are loaded, with their codes, added to sum[lengths]. */
static taper_status add_errors(train_nested_rows *rows, const float *code, const uint32_t *length,
                               size_t lengths, double *sum) {
    train_nested_network *net = rows->net;
    train_nested_activations *act = net->act;
    const size_t n = act->n, d = net->shape.inputs;
    const int linear = net->shape.layers == 1;
    TAPER_TRY(train_nested_decode_block(rows, code, n, 0));
    train_nested_error_block(rows); /* that of length 0, from which linear decoders go on */
    for (size_t i = 0; i < lengths; i++) {
        uint32_t before = i ? length[i - 1] : 0;
        if (length[i] > before && linear) TAPER_TRY(add_units(net, code, n, before, length[i]));
        if (length[i] > before && !linear) {
            take_units(net, code, n, length[i]);
            TAPER_TRY(train_nested_decode_block(rows, act->code, n, length[i]));
            train_nested_error_block(rows);
        }
        double squares;
        TAPER_TRY(net->be->ops->sum_squares(net->be, n * d, act->back_hidden[0], &squares));
        sum[i] += squares / (double)d;
    }
    return TAPER_OK;
}

taper_status train_nested_errors(train_nested_network *net, const train_pixels *data,
                                 const uint32_t *order, size_t n, const uint32_t *length,
                                 size_t lengths, double *mse) {
    for (size_t i = 0; i < lengths; i++)
        if (length[i] > net->units || (i && length[i] < length[i - 1])) return TAPER_ERR_ARG;
    float *code = malloc((size_t)TRAIN_NESTED_BLOCK * net->units * sizeof *code);
    if (!code) return TAPER_ERR_NOMEM;
    taper_status status = TAPER_OK;
    memset(mse, 0, lengths * sizeof *mse);
    for (size_t i = 0; i < n && status == TAPER_OK; i += TRAIN_NESTED_BLOCK) {
        train_pixels part = *data;
        train_nested_rows rows = rows_from(net, &part, order, i);
        size_t m = formats_smaller(TRAIN_NESTED_BLOCK, n - i);
        status = train_nested_codes(net, &part, rows.order, m, 0, code);
        if (status == TAPER_OK) status = add_errors(&rows, code, length, lengths, mse);
    }
    for (size_t i = 0; i < lengths; i++)
        mse[i] *= (double)net->scale * net->scale / (double)(n ? n : 1);
    free(code);
    return status;
}
