/* nested_activations.c -- memory for a block of rows; see nested_activations.h. */
#include "train/nested/nested_activations.h"
#include "formats/bytes.h"

static size_t widest_of(const train_nested_shape *s) {
    size_t widest = s->inputs;
    for (uint32_t l = 0; l < s->layers; l++) widest = formats_larger(widest, s->width[l]);
    return widest;
}

static void lay_out(train_nested_activations *act, const train_nested_shape *s, size_t rows) {
    train_arena *arena = &act->arena;
    const size_t widest = widest_of(s), units = s->width[s->layers - 1];
    act->kept = train_arena_take(arena, rows, 1, sizeof *act->kept);
    act->input = train_arena_floats(arena, 2 * rows, s->inputs);
    act->back_hidden[0] = train_arena_floats(arena, rows, s->inputs);
    for (uint32_t l = 0; l + 1 < s->layers; l++) {
        act->hidden[l] = train_arena_floats(arena, 2 * rows, s->width[l]);
        act->back_hidden[l + 1] = train_arena_floats(arena, rows, s->width[l]);
    }
    act->pre = train_arena_floats(arena, 2 * rows, units);
    act->code = train_arena_floats(arena, rows, units);
    act->packed = train_arena_floats(arena, 2 * rows, units);
    act->mixed = act->products = NULL;
    if (train_nested_can_mix(s)) act->mixed = train_arena_floats(arena, rows, units);
    if (s->feedback) act->products = train_arena_floats(arena, TRAIN_NESTED_FEEDBACK_ROWS, units);
    for (int i = 0; i < 2; i++) act->wide[i] = train_arena_floats(arena, 2 * rows, widest);
    double **const row[] = {&act->row_error, &act->row_noise, &act->row_moved};
    for (int i = 0; i < 3; i++) *row[i] = train_arena_take(arena, rows, 1, sizeof **row[i]);
}

static size_t whole_blocks(size_t rows) {
    return rows ? (rows + TRAIN_LEAST_ROWS - 1) / TRAIN_LEAST_ROWS * TRAIN_LEAST_ROWS
                : TRAIN_LEAST_ROWS;
}

/* Declares the arrays that layers read and write as factors. */
static taper_status keep_factors(const train_nested_activations *act, const train_nested_shape *s,
                                 train_device *device, size_t rows) {
    const size_t units = s->width[s->layers - 1];
    TAPER_TRY(train_keep(device, TRAIN_FACTORS, act->input, 2 * rows * s->inputs));
    TAPER_TRY(train_keep(device, TRAIN_FACTORS, act->code, rows * units));
    for (uint32_t l = 0; l + 1 < s->layers; l++) {
        const size_t n = rows * s->width[l];
        TAPER_TRY(train_keep(device, TRAIN_FACTORS, act->hidden[l], 2 * n));
        TAPER_TRY(train_keep(device, TRAIN_FACTORS, act->back_hidden[l + 1], n));
    }
    for (int i = 0; i < 2; i++)
        TAPER_TRY(train_keep(device, TRAIN_FACTORS, act->wide[i], 2 * rows * widest_of(s)));
    return TAPER_OK;
}

static taper_status take(train_nested_activations *act, const train_nested_shape *shape,
                         train_device *device, size_t rows) {
    train_nested_activations_free(act);
    lay_out(act, shape, rows);
    taper_status status = train_arena_alloc(&act->arena, device);
    if (status != TAPER_OK) {
        *act = (train_nested_activations){0};
        return status;
    }
    lay_out(act, shape, rows);
    act->block = rows;
    return keep_factors(act, shape, device, rows);
}

taper_status train_nested_activations_alloc(train_nested_activations *act,
                                            const train_nested_shape *shape, train_device *device,
                                            size_t rows) {
    size_t block = whole_blocks(rows < device->block_rows ? rows : device->block_rows);
    if (act->block == block) return TAPER_OK;
    taper_status status = take(act, shape, device, block);
    while (status == TAPER_ERR_NOMEM && !device->shared && block > TRAIN_LEAST_ROWS) {
        block = whole_blocks(block / 2);
        status = take(act, shape, device, block);
    }
    return status;
}

taper_status train_nested_activations_halve(train_nested_activations *act,
                                            const train_nested_shape *shape) {
    train_device *device = act->arena.device;
    if (act->block <= TRAIN_LEAST_ROWS || device->shared) return TAPER_ERR_NOMEM;
    return train_nested_activations_alloc(act, shape, device, act->block / 2);
}

void train_nested_activations_free(train_nested_activations *act) {
    train_arena_free(&act->arena);
    *act = (train_nested_activations){0};
}
