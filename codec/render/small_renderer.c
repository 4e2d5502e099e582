/* small_renderer.c -- see small_renderer.h. */
#include "codec/render/small_renderer.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { BATCH = CODEC_TERMS_WINDOWS, PHASES = 3 };

/* The picture of sums. */
typedef struct sums {
    uint32_t width, height, channels; /* with the reach */
    int32_t *value;                   /* [channels][height][width] */
} sums;

static int32_t *row_of(const sums *p, uint32_t c, uint32_t y) {
    return p->value + ((size_t)c * p->height + y) * p->width;
}

static void lay_out(sums *p, const codec_small_basis *b, codec_grid grid, formats_layout *at) {
    *p = (sums){.width = grid.columns * b->window.width + 2 * b->reach,
                .height = grid.rows * b->window.height + 2 * b->reach,
                .channels = b->window.channels};
    p->value = formats_lay(at, (uint64_t)p->width * p->height, p->channels * sizeof *p->value);
}

static taper_status alloc(sums *p, const codec_small_basis *b, codec_grid grid,
                          formats_block *block) {
    formats_layout at = {0};
    lay_out(p, b, grid, &at);
    TAPER_TRY(formats_block_take(block, &at, NULL));
    lay_out(p, b, grid, &at);
    return TAPER_OK;
}

/* to[n] += from[n], modulo 2^32. */
static void add(const int32_t *restrict from, uint32_t n, int32_t *restrict to) {
    for (uint32_t i = 0; i < n; i++) to[i] = (int32_t)((uint32_t)to[i] + (uint32_t)from[i]);
}

/* --- windows -------------------------------------------------------------------------------- */

typedef struct rendering {
    const codec_small_source *source;
    codec_strip_renderer renderer;
    sums picture;
    uint32_t rows, phase; /* of windows: in a block */
    atomic_int failed;
} rendering;

/* Add the sums of window i of the image. */
static void put(const rendering *t, uint32_t i, const int32_t *from) {
    const codec_small_basis *b = t->source->basis;
    uint32_t columns = t->source->grid.columns, x = i % columns * b->window.width,
             y = i / columns * b->window.height, width = b->window.width + 2 * b->reach,
             height = b->window.height + 2 * b->reach;
    for (uint32_t c = 0; c < b->window.channels; c++)
        for (uint32_t k = 0; k < height; k++, from += width)
            add(from, width, row_of(&t->picture, c, y + k) + x);
}

static size_t batch_bytes(const codec_small_basis *b) {
    return BATCH * (size_t)b->rows.lanes * sizeof(int32_t);
}

static void render_block(void *context, size_t number) {
    rendering *t = context;
    const codec_small_source *s = t->source;
    size_t lanes = s->basis->rows.lanes;
    uint32_t windows = s->grid.columns * s->grid.rows, in_block = t->rows * s->grid.columns,
             block = (uint32_t)number * PHASES + t->phase, first = block * in_block,
             end = windows - first < in_block ? windows : first + in_block;
    int32_t *sum = malloc(batch_bytes(s->basis));
    if (!sum) t->failed = 1;
    for (uint32_t i = first, n; i < end && !t->failed; i += n) {
        n = end - i < BATCH ? end - i : BATCH;
        if (codec_strip_renderer_sums(&t->renderer, s->first + i, n, sum) != TAPER_OK)
            t->failed = 1;
        for (uint32_t k = 0; k < n && !t->failed; k++) put(t, i + k, sum + k * lanes);
    }
    free(sum);
}

/* Blocks are some rows of windows. Rows reach at most into the next on either side. So blocks at a
 * distance of three never write to the same sums, and run at once. */
static taper_status render_blocks(rendering *t, codec_pool *pool) {
    codec_grid grid = t->source->grid;
    t->rows = (BATCH - 1) / grid.columns + 1;
    uint32_t blocks = (grid.rows - 1) / t->rows + 1;
    for (t->phase = 0; t->phase < PHASES && t->phase < blocks; t->phase++)
        codec_pool_run(pool, render_block, t, (blocks - t->phase - 1) / PHASES + 1);
    return t->failed ? TAPER_ERR_NOMEM : TAPER_OK;
}

/* --- edges ---------------------------------------------------------------------------------- */

static void fold_edges(const sums *p, uint32_t reach) {
    for (uint32_t c = 0; c < p->channels; c++) {
        for (uint32_t k = 0; k < reach; k++) {
            add(row_of(p, c, reach - 1 - k), p->width, row_of(p, c, reach + k));
            add(row_of(p, c, p->height - reach + k), p->width,
                row_of(p, c, p->height - reach - 1 - k));
        }
        for (uint32_t y = reach; y < p->height - reach; y++)
            for (uint32_t k = 0; k < reach; k++) {
                int32_t *left = row_of(p, c, y) + reach,
                        *right = row_of(p, c, y) + p->width - reach;
                add(left - 1 - k, 1, left + k);
                add(right + k, 1, right - 1 - k);
            }
    }
}

static taper_status store(const rendering *t, taper_image *image) {
    const codec_small_basis *b = t->source->basis;
    codec_picture small;
    TAPER_TRY(codec_picture_alloc(&small, b->window, t->source->grid));
    for (uint32_t c = 0; c < small.channels; c++)
        for (uint32_t y = 0; y < small.height; y++)
            codec_synthesis_values(row_of(&t->picture, c, y + b->reach) + b->reach, small.width,
                                   codec_picture_row(&small, c, y));
    codec_picture_store(&small, image);
    codec_picture_free(&small);
    return TAPER_OK;
}

/* --- the interface -------------------------------------------------------------------------- */

taper_status codec_render_small(const codec_small_source *s, codec_pool *pool, taper_image *image) {
    rendering t = {.source = s};
    const codec_strip_rendering all = {.model = s->model,
                                       .strips = s->group,
                                       .first = s->first,
                                       .n = s->grid.columns * s->grid.rows,
                                       .with_head = 1,
                                       .basis = s->basis};
    TAPER_TRY(codec_strip_renderer_begin(&t.renderer, &all, pool));
    formats_block block;
    taper_status status = alloc(&t.picture, s->basis, s->grid, &block);
    if (status == TAPER_OK) status = render_blocks(&t, pool);
    if (status == TAPER_OK) {
        fold_edges(&t.picture, s->basis->reach);
        status = store(&t, image);
    }
    formats_block_free(&block);
    codec_strip_renderer_end(&t.renderer);
    return status;
}

uint64_t codec_render_small_bytes(const taper_model *m, uint32_t scale, codec_grid grid,
                                  unsigned threads) {
    const codec_small_basis b = codec_small_basis_shape(m->window, scale, m->network.units);
    formats_layout at = {0};
    sums p;
    lay_out(&p, &b, grid, &at);
    return at.used + codec_picture_bytes(b.window, grid) +
           codec_strip_renderer_bytes(m, (uint64_t)grid.columns * grid.rows, grid.columns) +
           threads * (codec_window_renderer_run_bytes(m, BATCH) + batch_bytes(&b));
}
