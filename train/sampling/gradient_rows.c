/* gradient_rows.c -- see gradient_rows.h. */
#include "train/sampling/gradient_rows.h"
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include "train/sampling/own_rows.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { ROWS = 64 }; /* in a block */

typedef struct task {
    codec_window window;
    codec_cells cells;
    size_t n;
    const uint8_t *pixels;
    uint8_t *values;
    atomic_int status;
} task;

static void make_block(void *context, size_t block) {
    task *t = context;
    const size_t first = block * ROWS, n = formats_smaller(ROWS, t->n - first);
    const taper_status status =
        codec_gradients(t->window, t->cells, n, t->pixels + first * codec_window_values(t->window),
                        t->values + first * codec_gradients_count(t->window, t->cells));
    if (status != TAPER_OK) atomic_store(&t->status, (int)status);
}

static int are_same(codec_cells a, codec_cells b) {
    return a.across == b.across && a.down == b.down;
}

taper_status train_gradient_rows_make(train_gradient_rows *to, const train_pixels *pixels,
                                      codec_window window, codec_cells cells, codec_backend *be) {
    const size_t here = train_rows_here(pixels);
    const uint32_t values = codec_gradients_count(window, cells);
    if (to->memory && are_same(to->cells, cells)) return TAPER_OK;
    train_gradient_rows_free(to);
    to->memory = calloc(formats_larger(here, 1), values);
    if (!to->memory) return TAPER_ERR_NOMEM;
    task t = {window, cells, here, pixels->pixels, to->memory, TAPER_OK};
    codec_pool_run(be->pool, make_block, &t, here / ROWS + (here % ROWS != 0));
    if (atomic_load(&t.status)) {
        train_gradient_rows_free(to);
        return TAPER_ERR_NOMEM;
    }
    to->cells = cells;
    to->rows = *pixels;
    to->rows.pixels = to->memory, to->rows.inputs = values;
    return TAPER_OK;
}

void train_gradient_rows_free(train_gradient_rows *r) {
    free(r->memory);
    *r = (train_gradient_rows){0};
}
