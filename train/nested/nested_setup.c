/* nested_setup.c -- see nested_setup.h. */
#include "train/nested/nested_setup.h"
#include "train/nested/refit.h"
#include "train/optimise/run.h"
#include "train/sampling/thresholds.h"
#include <stdlib.h>

/* --- rows at a time --------------------------------------------------------------------- */

/* Computes the gradient of a step with the longest codes, and an evaluation, so that matrix
 * products allocate their memory now. The results are not used. */
static taper_status rehearse(train_nested_run *r) {
    train_nested_network *net = r->net;
    train_nested_part *part = &r->part;
    train_nested_data look = train_nested_part_held_out(part);
    const size_t n = train_own_count(&part->own, 0);
    double expected, full;
    train_fed fed;
    for (size_t i = 0; i < r->batch; i++) r->kept[i] = net->units;
    r->first = 0, r->n = n;
    train_nested_step step = train_nested_step_of(r);
    if (r->data->ranks) /* one may have less memory than others: they exchange nothing here */
        look.ranks = NULL, look.of = look.n, step.classes = NULL, step.last = NULL;
    TAPER_TRY(train_feed_take(&part->feed, &net->stream, &part->order, 0, n, &fed));
    TAPER_TRY(train_nested_add(net, &step, fed.rows, fed.order, n, r->batch, 0, net->losses));
    return look.n ? train_nested_validate(net, NULL, &look, &expected, &full) : TAPER_OK;
}

size_t train_nested_rows_wanted(const train_nested_run *r) {
    const size_t rows = formats_larger(r->batch, r->part.n_validation);
    return formats_smaller(rows, r->net->stream.device->block_rows);
}

taper_status train_nested_take_rows(train_nested_run *r) {
    train_nested_network *net = r->net;
    train_nested_activations *act = &net->act;
    train_device *device = net->stream.device;
    const size_t wanted = train_nested_rows_wanted(r);
    taper_status status = train_nested_activations_alloc(act, &net->shape, device, wanted);
    while (status == TAPER_OK && act->block > TRAIN_LEAST_ROWS) {
        status = rehearse(r);
        if (status != TAPER_ERR_NOMEM) break;
        status = train_nested_activations_halve(act, &net->shape);
    }
    if (status == TAPER_OK && act->block < wanted && r->callbacks && r->callbacks->fewer_rows)
        r->callbacks->fewer_rows(r->callbacks->user, device->name, act->block, wanted);
    return status;
}

/* --- thresholds ------------------------------------------------------------------------ */

/* Sets the network's thresholds exactly from a[n][K], which is overwritten. */
static taper_status put_thresholds(train_nested_run *r, float *a, size_t n) {
    train_nested_network *net = r->net;
    const size_t units = net->units;
    const train_nested_layer *last = &net->layer[net->shape.layers - 1];
    float *bias = malloc(units * sizeof *bias),
          *feedback = net->feedback ? malloc(units * units * sizeof *feedback) : NULL;
    taper_status status = bias && (feedback || !net->feedback) ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && feedback)
        status =
            train_download(&net->stream, feedback, net->feedback, units * units * sizeof *feedback);
    if (status == TAPER_OK)
        status = train_exact_thresholds(feedback, units, n, r->options->beta, net->shape.centre, a,
                                        bias);
    if (status == TAPER_OK)
        status = train_upload(&net->stream, last->b, bias, units * sizeof *bias);
    free(bias), free(feedback);
    return status;
}

/* The same from n training rows. */
static taper_status thresholds_of(train_nested_run *r, size_t n) {
    float *a = malloc(n * r->net->units * sizeof *a);
    taper_status status = a ? train_nested_part_codes(&r->part, r->net, n, a) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = put_thresholds(r, a, n);
    free(a);
    return status;
}

/* *a: the pre-activations of the first n training rows, on the device. */
static taper_status first_rows(train_nested_run *r, size_t n, const float **a) {
    train_nested_network *net = r->net;
    train_nested_part *part = &r->part;
    const train_nested_data data = train_nested_part_training(part, n);
    train_nested_rows rows;
    if (data.n) {
        TAPER_TRY(train_nested_rows_from(net, &data, 0, data.n, &rows));
        TAPER_TRY(train_nested_encode_rows(&rows, data.n, net->act.code));
    }
    *a = net->act.pre;
    if (!data.ranks) return TAPER_OK;
    train_nested_last_begin(&part->last, part->training.position, 0, n, net->units);
    TAPER_TRY(train_nested_last_take(&part->last, net, 0, data.n));
    *a = part->last.there;
    return train_nested_last_share(&part->last, &net->stream, NULL);
}

taper_status train_nested_first_thresholds(train_nested_run *r) {
    train_nested_network *net = r->net;
    train_stream *s = &net->stream;
    const size_t n = formats_smaller(r->part.n_training, TRAIN_LEAST_ROWS);
    const float *a;
    if (!net->shape.binary) return TAPER_OK;
    TAPER_TRY(train_nested_feed_back(net));
    if (net->shape.feedback) TAPER_TRY(thresholds_of(r, n));
    TAPER_TRY(first_rows(r, n, &a));
    const train_quantiles units = {.rows = n,
                                   .stride = net->units,
                                   .units = net->units,
                                   .beta = r->options->beta,
                                   .a = a,
                                   .bias = net->layer[net->shape.layers - 1].b,
                                   .spread = net->spread};
    return s->ops->follow_quantiles(s, &units, NULL);
}

taper_status train_nested_exact_thresholds(train_nested_run *r, taper_error *error) {
    enum { MOST = 1 << 26 }; /* numbers held in memory at once */
    taper_status status = train_nested_feed_back(r->net);
    if (status == TAPER_OK)
        status = thresholds_of(r, formats_smaller(r->part.n_training, MOST / r->net->units));
    return train_explain(status, error, "exact thresholds");
}

taper_status train_nested_refit_run(train_nested_run *r, taper_error *error) {
    const train_nested_data rows = train_nested_part_training(&r->part, r->part.n_training),
                            judge = train_nested_part_held_out(&r->part);
    if (!r->net->mixing || !judge.of) return TAPER_OK;
    taper_status status = train_nested_refit(r->net, &rows, &judge, r->options->truncation);
    return train_explain(status, error, "refitting the decoder");
}
