/* folding.c -- see folding.h. */
#include "train/labelling/folding.h"
#include "train/objectives/stack.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Statistics of hidden layers, summed over batches. */
typedef struct statistics {
    float *now;              /* [widest] of one batch */
    double *mean, *variance; /* [all hidden units] */
} statistics;

static size_t hidden_units(const train_teacher *t) {
    size_t n = 0;
    for (uint32_t l = 0; l + 1 < t->view.depth; l++) n += t->view.layer[l].outputs;
    return n;
}

static taper_status add_batch(train_teacher *t, statistics *st) {
    double *mean = st->mean, *variance = st->variance;
    for (uint32_t l = 0; l + 1 < t->view.depth; l++) {
        const size_t n = t->view.layer[l].outputs;
        TAPER_TRY(train_download(&t->stream, st->now, t->mean[l], n * sizeof *st->now));
        for (size_t i = 0; i < n; i++) *mean++ += (double)st->now[i];
        TAPER_TRY(train_download(&t->stream, st->now, t->inverse[l], n * sizeof *st->now));
        for (size_t i = 0; i < n; i++)
            *variance++ += 1.0 / ((double)st->now[i] * (double)st->now[i]);
    }
    return TAPER_OK;
}

static taper_status measure(const train_folding *f, statistics *st) {
    for (size_t i = 0; i < f->batches; i++) {
        train_fed fed;
        TAPER_TRY(
            train_feed_take(f->feed, &f->teacher->stream, f->order, i * f->batch, f->batch, &fed));
        TAPER_TRY(train_teacher_load(f->teacher, fed.rows, fed.order, NULL, NULL, f->batch));
        TAPER_TRY(train_teacher_forward(f->teacher, f->teacher->x));
        TAPER_TRY(add_batch(f->teacher, st));
    }
    return TAPER_OK;
}

static void fold_layer(const codec_layer *from, const double *mean, const double *variance,
                       double batches, double scale, codec_layer *to) {
    for (size_t i = 0; i < from->outputs; i++) {
        const double inverse = mean ? 1.0 / sqrt(variance[i] / batches) : 1.0;
        const double shift = mean ? inverse * mean[i] / batches : 0.0;
        const float *row = from->weight + i * from->inputs;
        for (size_t j = 0; j < from->inputs; j++)
            to->weight[i * from->inputs + j] = (float)((double)row[j] * inverse * scale);
        to->bias[i] = (float)((double)from->bias[i] - shift);
    }
}

static void fold_all(float *host, const statistics *st, double batches, codec_network *net) {
    const double *mean = st->mean, *variance = st->variance;
    codec_stack view;
    train_stack_view(&net->encoder, host, &view);
    for (uint32_t l = 0; l < view.depth; l++) {
        const int hidden = l + 1 < view.depth;
        fold_layer(&view.layer[l], hidden ? mean : NULL, variance, batches, l ? 1.0 : 1.0 / 255.0,
                   &net->encoder.layer[l]);
        mean += view.layer[l].outputs, variance += view.layer[l].outputs;
    }
    net->hidden = CODEC_RELU;
    memset(net->mean, 0, net->inputs * sizeof *net->mean);
}

taper_status train_fold(const train_folding *f, codec_network *net) {
    train_teacher *t = f->teacher;
    const size_t units = hidden_units(t);
    statistics st = {.now = malloc(units * sizeof *st.now),
                     .mean = calloc(units + t->classes, 2 * sizeof *st.mean)};
    float *host = malloc(t->weights.n * sizeof *host);
    taper_status status = st.now && st.mean && host ? TAPER_OK : TAPER_ERR_NOMEM;
    st.variance = st.mean ? st.mean + units + t->classes : NULL;
    if (status == TAPER_OK) status = measure(f, &st);
    if (status == TAPER_OK)
        status =
            train_download(&t->stream, host, t->weights.parameter, t->weights.n * sizeof *host);
    if (status == TAPER_OK) fold_all(host, &st, (double)f->batches, net);
    free(st.now), free(st.mean), free(host);
    return status;
}
