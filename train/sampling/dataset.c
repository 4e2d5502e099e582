/* dataset.c -- see dataset.h. */
#include "train/sampling/dataset.h"
#include "codec/taper_quality.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

void train_dataset_free(train_dataset *data) {
    for (size_t i = 0; i < data->n; i++) formats_image_free(&data->image[i]);
    free(data->image), free(data->label), free(data->group), free(data->number);
    memset(data, 0, sizeof *data);
}

taper_status train_dataset_copy(train_dataset *copy, const train_dataset *data) {
    *copy = *data;
    copy->number = NULL;
    copy->image = calloc(data->n, sizeof *copy->image);
    copy->label = data->label ? malloc(data->n * sizeof *copy->label) : NULL;
    copy->group = data->group ? malloc(data->n * sizeof *copy->group) : NULL;
    if (!copy->image || (data->label && !copy->label) || (data->group && !copy->group)) {
        copy->n = 0;
        return TAPER_ERR_NOMEM;
    }
    if (data->label) memcpy(copy->label, data->label, data->n * sizeof *copy->label);
    if (data->group) memcpy(copy->group, data->group, data->n * sizeof *copy->group);
    for (size_t i = 0; i < data->n; i++) {
        copy->image[i] = data->image[i];
        copy->image[i].pixels = NULL;
    }
    return TAPER_OK;
}

taper_status train_dataset_scale(train_dataset *scaled, const train_dataset *data, uint32_t width,
                                 uint32_t height) {
    taper_status status = train_dataset_copy(scaled, data);
    scaled->one_size = 1;
    scaled->pixels = (uint64_t)width * height * data->n;
    for (size_t i = 0; i < data->n && status == TAPER_OK; i++) {
        scaled->image[i].width = width, scaled->image[i].height = height;
        if (train_is_here(data, i))
            status = taper_image_scale(&data->image[i], width, height, &scaled->image[i], NULL);
    }
    return status;
}

uint32_t train_owner(const train_dataset *data, size_t i) {
    return data->ranks && data->group ? data->group[i] % data->ranks->size : 0;
}

int train_is_here(const train_dataset *data, size_t i) {
    return !data->ranks || train_owner(data, i) == data->ranks->rank;
}

int train_is_validation(const train_dataset *data, size_t i) {
    return data->n >= TRAIN_VALIDATION_PERIOD &&
           i % TRAIN_VALIDATION_PERIOD == TRAIN_VALIDATION_PERIOD / 2;
}

static int is_in_part(const train_dataset *data, size_t i, train_part part) {
    if (part == TRAIN_PART_ALL || data->n < TRAIN_VALIDATION_PERIOD) return 1;
    return train_is_validation(data, i) == (part == TRAIN_PART_VALIDATION);
}

taper_status train_select(train_selection *s, const train_dataset *data, codec_window window,
                          train_part part, size_t max_windows) {
    *s = (train_selection){.largest = 1,
                           .image = malloc((data->n + 1) * sizeof *s->image),
                           .grid = malloc((data->n + 1) * sizeof *s->grid)};
    if (!s->image || !s->grid) return train_selection_free(s), TAPER_ERR_NOMEM;
    size_t total = 0, passed = 0;
    for (size_t i = 0; i < data->n; i++) {
        codec_grid g = codec_windows_grid(window, data->image[i].width, data->image[i].height);
        if (is_in_part(data, i, part)) total += (size_t)g.columns * g.rows;
    }
    double fraction = total > max_windows ? (double)max_windows / (double)total : 1;
    for (size_t i = 0; i < data->n; i++) {
        if (!is_in_part(data, i, part)) continue;
        codec_grid g = codec_windows_grid(window, data->image[i].width, data->image[i].height);
        passed += (size_t)g.columns * g.rows;
        if (s->n && (double)s->windows > fraction * (double)passed - 0.5) continue;
        s->image[s->n] = i;
        s->grid[s->n++] = g;
        s->windows += (size_t)g.columns * g.rows;
        s->largest = formats_larger(s->largest, (size_t)g.columns * g.rows);
    }
    return TAPER_OK;
}

void train_selection_free(train_selection *s) {
    free(s->image), free(s->grid);
    memset(s, 0, sizeof *s);
}

size_t train_read_windows(const train_dataset *data, const train_selection *s, codec_window window,
                          size_t first, size_t n, float *rows) {
    size_t values = codec_window_values(window), count = 0;
    for (size_t i = first; i < first + n && i < s->n; i++) {
        codec_windows_read(window, &data->image[s->image[i]], rows + count * values);
        count += (size_t)s->grid[i].columns * s->grid[i].rows;
    }
    return count;
}

size_t train_run_here(const train_dataset *data, const train_selection *s, size_t first,
                      size_t most, size_t *windows) {
    size_t n = 0;
    for (*windows = 0; first + n < s->n && n < most; n++) {
        if (!train_is_here(data, s->image[first + n])) break;
        *windows += (size_t)s->grid[first + n].columns * s->grid[first + n].rows;
    }
    return n;
}

/* --- windows of a part -------------------------------------------------------------------- */

enum { MAX_WINDOWS = 1 << 20 };

/* The memory of train_collect_windows: bytes, then numbers. */
typedef struct collected {
    uint8_t *bytes;
    uint32_t *label, *place; /* [windows] or NULL */
    float *rows;             /* of one image */
    size_t windows, here;    /* so far */
} collected;

static size_t windows_here(const train_dataset *data, const train_selection *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (train_is_here(data, s->image[i])) n += (size_t)s->grid[i].columns * s->grid[i].rows;
    return n;
}

static uint8_t *take_memory(collected *c, const train_dataset *data, const train_selection *s,
                            size_t inputs) {
    const size_t bytes = (windows_here(data, s) * inputs + sizeof(uint32_t)) / sizeof(uint32_t) *
                         sizeof(uint32_t),
                 numbers = s->windows * sizeof(uint32_t);
    uint8_t *memory = malloc(bytes + (data->label ? numbers : 0) + (data->ranks ? numbers : 0));
    c->rows = malloc(s->largest * inputs * sizeof *c->rows);
    if (!memory) return NULL;
    uint32_t *number = (uint32_t *)(void *)(memory + bytes);
    c->bytes = memory;
    if (data->label) c->label = number, number += s->windows;
    if (data->ranks) c->place = number;
    return memory;
}

/* Adds the windows of the selection's image i. */
static void collect_image(collected *c, const train_dataset *data, const train_selection *s,
                          codec_window window, size_t i) {
    const size_t inputs = codec_window_values(window),
                 n = (size_t)s->grid[i].columns * s->grid[i].rows;
    const int here = train_is_here(data, s->image[i]);
    uint8_t *to = c->bytes + c->here * inputs;
    for (size_t k = 0; k < n; k++) {
        if (c->label) c->label[c->windows + k] = data->label[s->image[i]];
        if (c->place) c->place[c->windows + k] = here ? (uint32_t)(c->here + k) : TRAIN_ABSENT;
    }
    c->windows += n;
    if (!here) return;
    train_read_windows(data, s, window, i, 1, c->rows);
    for (size_t k = 0; k < n * inputs; k++) to[k] = (uint8_t)(c->rows[k] + 0.5f);
    c->here += n;
}

taper_status train_collect_windows(const train_dataset *data, codec_window window, train_part part,
                                   train_pixels *out, uint8_t **memory) {
    train_selection s;
    collected c = {0};
    const size_t inputs = codec_window_values(window);
    TAPER_TRY(train_select(&s, data, window, part, MAX_WINDOWS));
    *memory = take_memory(&c, data, &s, inputs);
    const taper_status status = c.rows && *memory ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s.n && status == TAPER_OK; i++) collect_image(&c, data, &s, window, i);
    free(c.rows);
    train_selection_free(&s);
    *out = (train_pixels){.pixels = *memory,
                          .n = c.windows,
                          .inputs = (uint32_t)inputs,
                          .ranks = data->ranks,
                          .place = c.place,
                          .label = c.label};
    return status;
}
