/* own_rows.c -- see own_rows.h. */
#include "train/sampling/own_rows.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

static uint32_t place_of(const train_pixels *data, size_t row) {
    return data->place ? data->place[row] : (uint32_t)row;
}

taper_status train_own_rows_open(train_own_rows *own, const train_pixels *data,
                                 const uint32_t *rows, size_t n, size_t batches) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++) room += place_of(data, rows[i]) != TRAIN_ABSENT;
    *own = (train_own_rows){.place = calloc(room + 1, sizeof *own->place),
                            .position = calloc(room + 1, sizeof *own->position),
                            .begin = calloc(batches + 1, sizeof *own->begin),
                            .batches = batches,
                            .room = room + 1};
    if (own->place && own->position && own->begin) return TAPER_OK;
    train_own_rows_free(own);
    return TAPER_ERR_NOMEM;
}

void train_own_rows_free(train_own_rows *own) {
    free(own->place), free(own->position), free(own->begin);
    *own = (train_own_rows){0};
}

void train_own_rows_pick(train_own_rows *own, const train_pixels *data, const uint32_t *rows,
                         size_t n, size_t batch) {
    size_t at = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t place = place_of(data, rows[i]);
        if (i % batch == 0) own->begin[k++] = at;
        if (place == TRAIN_ABSENT) continue;
        own->place[at] = place;
        own->position[at++] = (uint32_t)(i % batch);
    }
    for (; k <= own->batches; k++) own->begin[k] = at;
}

size_t train_own_count(const train_own_rows *own, size_t batch) {
    return own->begin[batch + 1] - own->begin[batch];
}

/* From the last row on: none is moved onto one that is still to be moved. */
void train_spread_rows(void *rows, size_t bytes, const uint32_t *position, size_t own, size_t n) {
    char *at = rows;
    size_t end = n;
    for (size_t i = own; i-- > 0; end = position[i]) {
        const size_t to = position[i];
        memmove(at + to * bytes, at + i * bytes, bytes);
        memset(at + (to + 1) * bytes, 0, (end - to - 1) * bytes);
    }
    memset(at, 0, end * bytes);
}

void train_pack_rows(void *rows, size_t bytes, const uint32_t *position, size_t own) {
    char *at = rows;
    for (size_t i = 0; i < own; i++) memmove(at + i * bytes, at + position[i] * bytes, bytes);
}

size_t train_rows_here(const train_pixels *data) {
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++) n += place_of(data, i) != TRAIN_ABSENT;
    return n;
}

taper_status train_own_labels(const train_pixels *data, uint32_t **label) {
    *label = NULL;
    if (!data->label) return TAPER_OK;
    if (!(*label = malloc((train_rows_here(data) + 1) * sizeof **label))) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < data->n; i++) {
        const uint32_t place = place_of(data, i);
        if (place != TRAIN_ABSENT) (*label)[place] = data->label[i];
    }
    return TAPER_OK;
}

taper_status train_hash_rows(const train_pixels *data, uint64_t *hash, taper_error *error) {
    *hash = 0;
    for (size_t i = 0; i < data->n; i++) {
        const uint32_t place = place_of(data, i);
        if (place == TRAIN_ABSENT) continue;
        const uint8_t *row = data->pixels + (size_t)place * data->inputs;
        uint64_t x = (uint64_t)i << 32 ^ formats_crc32c((uint32_t)i, row, data->inputs);
        x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
        *hash += x ^ x >> 29;
    }
    return train_sum_integers(data->ranks, hash, 1, error);
}
