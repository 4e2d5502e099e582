/* refit.c -- see refit.h. */
#include "train/nested/refit.h"
#include "train/nested/nested_forward.h"
#include "train/optimise/rank_sums.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moments of codes and pixels, on the device and in double on the host. */
typedef struct moments {
    train_arena arena;
    float *gram, *cross, *inverse; /* on the device: C [K][K], P [K][D], L^-1 [K][K] */
    double *c, *factor;            /* on the host: C, and L, then L^-1, [K][K] */
    float *host;                   /* [K][K] for transfers */
    size_t units, inputs;
} moments;

/* --- moments --------------------------------------------------------------------------- */

static void lay_out(moments *m) {
    m->gram = train_arena_floats(&m->arena, m->units, m->units);
    m->cross = train_arena_floats(&m->arena, m->units, m->inputs);
    m->inverse = train_arena_floats(&m->arena, m->units, m->units);
}

static void release(moments *m) {
    train_arena_free(&m->arena);
    free(m->c), free(m->factor), free(m->host);
    *m = (moments){0};
}

/* The device's part. If memory is short, fewer rows are processed at once. */
static taper_status take_arena(moments *m, train_nested_network *net) {
    taper_status status;
    lay_out(m);
    while ((status = train_arena_alloc(&m->arena, net->stream.device)) == TAPER_ERR_NOMEM)
        TAPER_TRY(train_nested_activations_halve(&net->act, &net->shape));
    if (status == TAPER_OK) lay_out(m);
    return status;
}

static taper_status take_memory(moments *m, train_nested_network *net) {
    *m = (moments){.units = net->units, .inputs = net->shape.inputs};
    const size_t n = m->units * m->units;
    TAPER_TRY(take_arena(m, net));
    m->c = malloc(n * sizeof *m->c);
    m->factor = malloc(n * sizeof *m->factor);
    m->host = malloc(n * sizeof *m->host);
    return m->c && m->factor && m->host ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Sums of x x^T and x c^T over blocks of rows, and over ranks. */
static taper_status add_up(moments *m, train_nested_network *net, const train_nested_data *rows) {
    train_stream *s = &net->stream;
    const train_nested_activations *act = &net->act;
    const size_t k = m->units, d = m->inputs;
    TAPER_TRY(train_zero(s, m->gram, k * k * sizeof *m->gram));
    TAPER_TRY(train_zero(s, m->cross, k * d * sizeof *m->cross));
    for (size_t i = 0; i < rows->n; i += act->block) {
        train_nested_rows block;
        size_t n = formats_smaller(act->block, rows->n - i);
        TAPER_TRY(train_nested_rows_from(net, rows, i, n, &block));
        TAPER_TRY(train_nested_encode_rows(&block, n, act->code));
        TAPER_TRY(s->ops->gemm(s, 1, 0, k, k, n, act->code, act->code, 1.0f, m->gram));
        TAPER_TRY(s->ops->gemm(s, 1, 0, k, d, n, act->code, act->input, 1.0f, m->cross));
    }
    TAPER_TRY(train_sum_floats_there(s, rows->ranks, m->gram, k * k, NULL));
    TAPER_TRY(train_sum_floats_there(s, rows->ranks, m->cross, k * d, NULL));
    TAPER_TRY(train_download(s, m->host, m->gram, k * k * sizeof *m->host));
    for (size_t i = 0; i < k * k; i++) m->c[i] = (double)m->host[i];
    return TAPER_OK;
}

/* --- solving --------------------------------------------------------------------------- */

/* C + ridge = L L^T, row by row. Returns 0 if it is not positive definite. */
static int factorise(const moments *m, double ridge) {
    const size_t n = m->units;
    double mean = 0.0, *l = m->factor;
    for (size_t k = 0; k < n; k++) mean += m->c[k * n + k] / (double)n;
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j <= k; j++) {
            double sum = m->c[k * n + j] + (j == k ? ridge * mean : 0.0);
            for (size_t i = 0; i < j; i++) sum -= l[k * n + i] * l[j * n + i];
            if (j < k)
                l[k * n + j] = sum / l[j * n + j];
            else if (sum > 1e-9 * mean)
                l[k * n + k] = sqrt(sum);
            else
                return 0;
        }
    return 1;
}

/* L becomes L^-1, row by row. row: [n] scratch. */
static void invert(const moments *m, double *row) {
    const size_t n = m->units;
    double *l = m->factor;
    for (size_t k = 0; k < n; k++) {
        const double diagonal = l[k * n + k];
        memset(row, 0, n * sizeof *row);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++) row[j] -= l[k * n + i] * l[i * n + j];
        for (size_t j = 0; j < k; j++) l[k * n + j] = row[j] / diagonal;
        l[k * n + k] = 1.0 / diagonal;
    }
}

/* mixing = diag(L) L^-1 without its diagonal; v = diag(L)^-1 L^-1 P. L^-1 is m->factor. */
static taper_status put(moments *m, train_nested_network *net) {
    train_stream *s = &net->stream;
    const train_nested_layer *y = &net->layer[0];
    const size_t n = m->units, bytes = n * n * sizeof *m->host;
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            m->host[k * n + j] =
                j < k ? (float)(m->factor[k * n + j] / m->factor[k * n + k]) : 0.0f;
    TAPER_TRY(train_upload(s, net->mixing, m->host, bytes));
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            m->host[k * n + j] =
                j <= k ? (float)(m->factor[k * n + j] * m->factor[k * n + k]) : 0.0f;
    TAPER_TRY(train_upload(s, m->inverse, m->host, bytes));
    TAPER_TRY(s->ops->gemm(s, 0, 0, n, m->inputs, n, m->inverse, m->cross, 0.0f, y->v));
    net->mixed = 1;
    return train_zero(s, y->c, m->inputs * sizeof *y->c);
}

static taper_status solve(moments *m, train_nested_network *net, double ridge) {
    double *row = malloc(m->units * sizeof *row);
    if (!row) return TAPER_ERR_NOMEM;
    int positive = factorise(m, ridge);
    if (positive) invert(m, row);
    free(row);
    return positive ? put(m, net) : TAPER_ERR_ARG;
}

/* --- refitting ------------------------------------------------------------------------- */

static taper_status begin(moments *m, train_nested_network *net, const train_nested_data *rows) {
    *m = (moments){0};
    if (!net->mixing || !(rows->ranks ? rows->of : rows->n)) return TAPER_ERR_ARG;
    TAPER_TRY(take_memory(m, net));
    return add_up(m, net, rows);
}

/* Saves the trained decoder, to be restored. */
static taper_status keep(train_nested_network *net, float *v, float *c) {
    const train_nested_layer *y = &net->layer[0];
    TAPER_TRY(train_download(&net->stream, v, y->v, (size_t)y->inputs * y->outputs * sizeof *v));
    return train_download(&net->stream, c, y->c, y->inputs * sizeof *c);
}

static taper_status put_back(train_nested_network *net, const float *v, const float *c) {
    const train_nested_layer *y = &net->layer[0];
    net->mixed = 0;
    TAPER_TRY(train_upload(&net->stream, y->v, v, (size_t)y->inputs * y->outputs * sizeof *v));
    return train_upload(&net->stream, y->c, c, y->inputs * sizeof *c);
}

/* The ridge with the least expected error; below 0: none improves on the trained decoder. */
static taper_status choose(moments *m, train_nested_network *net, const train_nested_data *judge,
                           const train_truncation *truncation, double *best) {
    static const double ridge[] = {1e-5, 1e-3, 1e-2, 1e-1};
    double least, full, expected;
    *best = -1.0;
    net->mixed = 0;
    TAPER_TRY(train_nested_validate(net, truncation, judge, &least, &full));
    for (size_t i = 0; i < sizeof ridge / sizeof *ridge; i++) {
        taper_status status = solve(m, net, ridge[i]);
        if (status == TAPER_ERR_ARG) continue;
        if (status == TAPER_OK)
            status = train_nested_validate(net, truncation, judge, &expected, &full);
        if (status != TAPER_OK) return status;
        if (*best >= 0.0 && !(expected < least)) break; /* the error rises again */
        if (expected < least) least = expected, *best = ridge[i];
    }
    return TAPER_OK;
}

taper_status train_nested_refit(train_nested_network *net, const train_nested_data *rows,
                                const train_nested_data *judge,
                                const train_truncation *truncation) {
    const size_t n = net->units * (size_t)net->shape.inputs;
    float *v = malloc(n * sizeof *v), *c = malloc(net->shape.inputs * sizeof *c);
    double best = -1.0;
    moments m;
    taper_status status = begin(&m, net, rows);
    if (status == TAPER_OK) status = v && c ? keep(net, v, c) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = choose(&m, net, judge, truncation, &best);
    if (status == TAPER_OK) status = best < 0.0 ? put_back(net, v, c) : solve(&m, net, best);
    release(&m);
    free(v), free(c);
    return status;
}
