/* nested_last.c -- see nested_last.h. */
#include "train/nested/nested_last.h"
#include <stdlib.h>
#include <string.h>

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
