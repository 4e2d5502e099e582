/* convolution.c -- convolutional layers with pooling, forward and backward, a row in each block. See
 * train/device/operations.h. */
#include "codec/transform/convolution.h"
#include "codec/backend/simd.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <string.h>

typedef struct layer_task {
    codec_map map;
    uint32_t channels; /* of the output */
    const float *from;
    float *to;
    uint8_t *which;
    const uint8_t *chosen;
} layer_task;

/* --- patches --- */

static void take_patches(void *context, size_t row) {
    const layer_task *t = context;
    const size_t values = codec_map_values(t->map);
    codec_map_patches(t->map, t->from + row * values,
                      t->to + row * values * CODEC_MAP_TAPS);
}

taper_status train_plain_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                 float *to) {
    layer_task task = {.map = map, .from = from, .to = to};
    return train_processor_run(s, take_patches, &task, rows);
}

CODEC_CLONES static void add_channels(uint32_t channels, const float *restrict from, size_t stride,
                                      float *restrict to) {
    if (stride == 1)
        for (uint32_t c = 0; c < channels; c++) to[c] += from[c];
    else
        for (uint32_t c = 0; c < channels; c++) to[c * stride] += from[c];
}

/* The patch of place (x, y) is added to the places around it. As patches come in the order of their
 * places, taps of one value descend. */
static void add_patch(codec_map m, int64_t x, int64_t y, const float *from, float *to) {
    const size_t stride = m.planar ? codec_map_places(m) : 1;
    for (int tap = 0; tap < CODEC_MAP_TAPS; tap++, from += m.channels) {
        const int64_t x2 = x + tap % 3 - 1, y2 = y + tap / 3 - 1;
        if (x2 < 0 || y2 < 0 || x2 >= m.width || y2 >= m.height) continue;
        const size_t at = (size_t)y2 * m.width + (size_t)x2;
        add_channels(m.channels, from, stride, to + (m.planar ? at : at * m.channels));
    }
}

static void add_patches(void *context, size_t row) {
    const layer_task *t = context;
    const codec_map m = t->map;
    const size_t values = codec_map_values(m), step = codec_map_row(m);
    const float *from = t->from + row * values * CODEC_MAP_TAPS;
    float *to = t->to + row * values;
    memset(to, 0, values * sizeof *to);
    for (int64_t y = 0; y < m.height; y++)
        for (int64_t x = 0; x < m.width; x++, from += step) add_patch(m, x, y, from, to);
}

taper_status train_plain_add_patches(train_stream *s, codec_map map, size_t rows, const float *from,
                                     float *to) {
    layer_task task = {.map = map, .from = from, .to = to};
    return train_processor_run(s, add_patches, &task, rows);
}

/* --- pooling --- */

static size_t values_before(const layer_task *t) { return codec_map_places(t->map) * t->channels; }

static size_t values_after(const layer_task *t) {
    return codec_map_values(codec_map_pooled(t->map, t->channels));
}

static void pool_row(void *context, size_t row) {
    const layer_task *t = context;
    const size_t before = values_before(t), after = values_after(t);
    codec_map_pool(t->map, t->channels, t->from + row * before, t->to + row * after,
                   t->which + row * after);
}

taper_status train_plain_pool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                              const float *from, float *to, uint8_t *which) {
    layer_task task = {.map = map, .channels = channels, .from = from, .to = to, .which = which};
    return train_processor_run(s, pool_row, &task, rows);
}

/* to[channels] = from where `which` is this number, else 0. */
CODEC_CLONES static void put_chosen(uint32_t channels, const float *restrict from,
                                    const uint8_t *restrict which, uint8_t number,
                                    float *restrict to) {
    for (uint32_t k = 0; k < channels; k++) to[k] = which[k] == number ? from[k] : 0.0f;
}

static void unpool_row(void *context, size_t row) {
    const layer_task *t = context;
    const codec_map m = t->map;
    const size_t before = values_before(t), after = values_after(t);
    const size_t across = codec_pooled_side(m.width);
    float *to = t->to + row * before;
    for (uint32_t y = 0; y < m.height; y++)
        for (uint32_t x = 0; x < m.width; x++, to += t->channels) {
            const size_t at = row * after + (y / CODEC_POOL_SIDE * across + x / CODEC_POOL_SIDE) *
                                                t->channels;
            const uint8_t number =
                (uint8_t)(y % CODEC_POOL_SIDE * CODEC_POOL_SIDE + x % CODEC_POOL_SIDE);
            put_chosen(t->channels, t->from + at, t->chosen + at, number, to);
        }
}

taper_status train_plain_unpool(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                                const float *from, const uint8_t *which, float *to) {
    layer_task task = {.map = map, .channels = channels, .from = from, .to = to, .chosen = which};
    return train_processor_run(s, unpool_row, &task, rows);
}
