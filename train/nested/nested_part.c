/* nested_part.c -- see nested_part.h. */
#include "train/nested/nested_part.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

/* --- last rows ------------------------------------------------------------------------- */

taper_status train_nested_last_open(train_nested_last *last, train_ranks *ranks, uint32_t units) {
    const size_t n = (size_t)TRAIN_LEAST_ROWS * units;
    last->ranks = ranks;
    if (!ranks) return TAPER_OK;
    last->here = calloc(n, sizeof *last->here);
    last->block = calloc(n, sizeof *last->block);
    return last->here && last->block ? TAPER_OK : TAPER_ERR_NOMEM;
}

void train_nested_last_lay_out(train_nested_last *last, train_arena *arena, uint32_t units) {
    if (last->ranks) last->there = train_arena_floats(arena, TRAIN_LEAST_ROWS, units);
}

void train_nested_last_free(train_nested_last *last) {
    free(last->here), free(last->block);
    *last = (train_nested_last){0};
}

void train_nested_last_begin(train_nested_last *last, const uint32_t *position, size_t first,
                             size_t rows, uint32_t active) {
    last->position = position;
    last->first = first, last->rows = rows;
    last->active = active;
    memset(last->here, 0, rows * active * sizeof *last->here);
}

size_t train_nested_last_among(const train_nested_last *last, size_t first_row, size_t n) {
    size_t among = 0;
    while (among < n && last->position[first_row + n - 1 - among] >= last->first) among++;
    return among;
}

taper_status train_nested_last_take(train_nested_last *last, train_nested_network *net,
                                    size_t first_row, size_t n) {
    const size_t among = train_nested_last_among(last, first_row, n), at = n - among;
    const size_t width = net->act.active, bytes = last->active * sizeof *last->here;
    if (!among) return TAPER_OK;
    TAPER_TRY(train_download(&net->stream, last->block, net->act.pre + at * width,
                             among * width * sizeof *last->block));
    for (size_t i = 0; i < among; i++) {
        const size_t row = last->position[first_row + at + i] - last->first;
        memcpy(last->here + row * last->active, last->block + i * width, bytes);
    }
    return TAPER_OK;
}

taper_status train_nested_last_share(train_nested_last *last, train_stream *stream,
                                     taper_error *error) {
    const size_t n = last->rows * last->active;
    TAPER_TRY(train_sum_floats(last->ranks, last->here, n, error));
    return train_upload(stream, last->there, last->here, n * sizeof *last->here);
}

/* --- on the host ----------------------------------------------------------------------- */

static taper_status open_rows(train_nested_part *p, uint32_t units) {
    const train_pixels *data = p->data;
    const uint32_t *training = p->split, *held_out = p->split + p->n_training;
    TAPER_TRY(train_own_rows_open(&p->training, data, training, p->n_training, 1));
    TAPER_TRY(train_own_rows_open(&p->held_out, data, held_out, p->n_validation, 1));
    TAPER_TRY(
        train_own_rows_open(&p->own, data, training, p->n_training, p->n_training / p->batch + 1));
    train_own_rows_pick(&p->training, data, training, p->n_training, p->n_training);
    train_own_rows_pick(&p->held_out, data, held_out, p->n_validation, p->data->n);
    train_own_rows_pick(&p->own, data, training, p->n_training, p->batch);
    return train_nested_last_open(&p->last, data->ranks, units);
}

taper_status train_nested_part_open(train_nested_part *p, const train_pixels *data, uint64_t seed,
                                    size_t batch, size_t max_validation, uint32_t units) {
    const size_t n = data->n, most = n / 10;
    p->data = data;
    p->n_validation = formats_smaller(max_validation, most);
    p->n_training = n - p->n_validation;
    p->batch = formats_smaller(batch, p->n_training);
    p->split = malloc(n * sizeof *p->split);
    p->shuffled = malloc(p->n_training * sizeof *p->shuffled);
    if (!p->split || !p->shuffled) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) p->split[i] = (uint32_t)i;
    train_shuffle(p->split, n, seed, TRAIN_STREAM_SPLIT);
    memcpy(p->shuffled, p->split, p->n_training * sizeof *p->shuffled);
    return open_rows(p, units);
}

void train_nested_part_free(train_nested_part *p) {
    train_feed_close(&p->feed);
    train_order_free(&p->training_order);
    train_order_free(&p->held_out_order);
    train_order_free(&p->order);
    train_order_free(&p->positions);
    train_own_rows_free(&p->training);
    train_own_rows_free(&p->held_out);
    train_own_rows_free(&p->own);
    train_nested_last_free(&p->last);
    free(p->split), free(p->shuffled);
    *p = (train_nested_part){0};
}

/* --- on the device --------------------------------------------------------------------- */

taper_status train_nested_part_give_orders(train_nested_part *p, train_stream *s) {
    TAPER_TRY(train_order_open(&p->training_order, s, p->training.place, p->training.room));
    TAPER_TRY(train_order_open(&p->held_out_order, s, p->held_out.place, p->held_out.room));
    TAPER_TRY(train_order_open(&p->order, s, p->own.place, p->own.room));
    if (!p->data->ranks) return TAPER_OK;
    return train_order_open(&p->positions, s, p->own.position, p->own.room);
}

taper_status train_nested_part_give_rows(train_nested_part *p, train_stream *s, size_t most) {
    const train_pixels *data = p->data;
    return train_feed_open(&p->feed, s, data->pixels, train_rows_here(data), data->inputs, most);
}

taper_status train_nested_part_shuffle(train_nested_part *p, uint64_t seed, uint64_t epoch,
                                       train_stream *s) {
    memcpy(p->shuffled, p->split, p->n_training * sizeof *p->shuffled);
    train_shuffle(p->shuffled, p->n_training, seed, TRAIN_STREAM_SHUFFLE + (epoch << 8));
    train_own_rows_pick(&p->own, p->data, p->shuffled, p->n_training, p->batch);
    TAPER_TRY(train_order_update(&p->order, s));
    return p->data->ranks ? train_order_update(&p->positions, s) : TAPER_OK;
}

/* --- rows ------------------------------------------------------------------------------ */

train_nested_data train_nested_part_held_out(train_nested_part *p) {
    return (train_nested_data){
        &p->feed,       &p->held_out_order, 0, train_own_count(&p->held_out, 0),
        p->data->ranks, p->n_validation};
}

train_nested_data train_nested_part_training(train_nested_part *p, size_t n) {
    size_t here = train_own_count(&p->training, 0);
    while (here && p->training.position[here - 1] >= n) here--;
    return (train_nested_data){&p->feed, &p->training_order, 0, here, p->data->ranks, n};
}

taper_status train_nested_part_codes(train_nested_part *p, train_nested_network *net, size_t n,
                                     float *a) {
    const train_nested_data rows = train_nested_part_training(p, n);
    TAPER_TRY(train_nested_codes(net, &rows, 1, a));
    if (!rows.ranks) return TAPER_OK;
    train_spread_rows(a, net->units * sizeof *a, p->training.position, rows.n, n);
    return train_sum_floats(rows.ranks, a, n * net->units, NULL);
}
