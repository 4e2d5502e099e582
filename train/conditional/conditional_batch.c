/* conditional_batch.c -- see conditional_batch.h. */
#include "train/conditional/conditional_batch.h"
#include "codec/bitplane/quantiser.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

/* --- images to codes ------------------------------------------------------------------- */

/* A part of an image: its windows, and with a lap also the windows around them. Its pixels are at
 * an offset in memory that all squares share. */
typedef struct square {
    size_t image, offset, bytes;
    uint32_t x, y, width, height; /* in pixels */
    codec_grid grid, all;
    uint32_t left, up; /* offset of `grid` in `all`: 0 or 1 */
} square;

/* Along one side, in windows: the first of n, and how many. */
typedef struct span {
    uint32_t first, count, margin, all;
} span;

static span draw_span(uint32_t n, uint32_t side, uint32_t around, uint32_t random) {
    span s = {0, n, 0, n};
    if (n <= side) return s;
    s.first = train_philox_below(random, n - side + 1);
    s.count = side;
    s.margin = s.first < around ? s.first : around;
    uint32_t end = s.first + side + around;
    s.all = (end < n ? end : n) - (s.first - s.margin);
    return s;
}

/* A random square of at most side x side windows of an image. */
static square draw_square(const taper_image *image, codec_window window, uint32_t side,
                          const uint32_t random[2]) {
    codec_grid grid = codec_windows_grid(window, image->width, image->height);
    span x = draw_span(grid.columns, side, window.lap != NULL, random[0]);
    span y = draw_span(grid.rows, side, window.lap != NULL, random[1]);
    square s = {.x = (x.first - x.margin) * window.width,
                .y = (y.first - y.margin) * window.height,
                .width = x.all * window.width,
                .height = y.all * window.height,
                .grid = {x.count, y.count},
                .all = {x.all, y.all},
                .left = x.margin,
                .up = y.margin};
    if (s.width > image->width - s.x) s.width = image->width - s.x;
    if (s.height > image->height - s.y) s.height = image->height - s.y;
    s.bytes = (size_t)image->channels * (image->depth / 8u) * s.width * s.height;
    return s;
}

static size_t windows_of(const square *s) { return (size_t)s->grid.columns * s->grid.rows; }

static void copy_square(const taper_image *image, const square *s, uint8_t *to) {
    const size_t pixel = (size_t)image->channels * (image->depth / 8u), row = s->width * pixel;
    for (uint32_t r = 0; r < s->height; r++)
        memcpy(to + r * row,
               (const uint8_t *)image->pixels + ((size_t)(s->y + r) * image->width + s->x) * pixel,
               row);
}

/* The square's windows without those around them; scratch: scratch for all of them. */
static void read_square(codec_window window, const taper_image *image, const square *cut,
                        uint8_t *pixels, float *scratch, float *to) {
    size_t values = codec_window_values(window), row = cut->grid.columns * values;
    taper_image part = *image;
    part.width = cut->width, part.height = cut->height, part.pixels = pixels + cut->offset;
    codec_windows_read(window, &part, scratch);
    for (uint32_t y = 0; y < cut->grid.rows; y++, to += row)
        memcpy(to, scratch + ((size_t)(cut->up + y) * cut->all.columns + cut->left) * values,
               row * sizeof *to);
}

static taper_status quantise(train_conditional_batch *b, const taper_model *m, codec_backend *be,
                             const float *pixels) {
    const codec_code_tables *t = &m->tables;
    uint32_t n = b->coder.group.n, units = t->units, stride = b->coder.group.stride;
    b->x = malloc((size_t)n * units * sizeof *b->x);
    b->code = calloc((size_t)units * stride, sizeof *b->code);
    if (!b->x || !b->code) return TAPER_ERR_NOMEM;
    TAPER_TRY(codec_network_encode(&m->network, be, pixels, n, b->x));
    for (uint32_t u = 0; u < units; u++)
        for (uint32_t p = 0; p < n; p++)
            b->code[(size_t)u * stride + p] = codec_quantise(t, u, b->x[(size_t)p * units + u]);
    return TAPER_OK;
}

taper_status train_conditional_batch_fill(train_conditional_batch *b, const taper_model *m,
                                          codec_backend *be, const float *pixels,
                                          taper_error *error) {
    taper_status status = codec_chunk_coder_alloc(&b->coder, &m->tables, b->grid, b->images, error);
    if (status == TAPER_OK) status = quantise(b, m, be, pixels);
    if (status == TAPER_OK) return status;
    train_conditional_batch_free(b);
    return formats_fail(error, status, "no memory for a batch of windows");
}

/* Draws squares until there are `windows` windows, or the next square does not fit. Returns their
 * number. */
static size_t draw_squares(codec_window window, const train_draw *draw, size_t windows,
                           uint32_t side, square *to) {
    size_t n = 0, at = 0, bytes = 0;
    while (at < windows) {
        uint32_t random[4];
        train_philox(draw->seed, n, TRAIN_STREAM_CROP + (draw->step << 8), random);
        size_t i = draw->images->image[train_philox_below(random[2], (uint32_t)draw->images->n)];
        square s = draw_square(&draw->data->image[i], window, side, random);
        if (at && at + windows_of(&s) > windows) break;
        s.image = i, s.offset = bytes;
        bytes += s.bytes, at += windows_of(&s);
        to[n++] = s;
    }
    return n;
}

/* The squares that this rank computes: first .. end - 1 of n, about the same windows for each. */
static void own_squares(const square *s, size_t n, const train_ranks *ranks, size_t total,
                        size_t *first, size_t *end) {
    *first = 0, *end = n;
    if (!ranks) return;
    size_t at = 0, before = 0, within = 0;
    for (size_t i = 0; i < n; at += windows_of(&s[i++])) {
        const size_t middle = at + windows_of(&s[i]) / 2, rank = middle * ranks->size / total;
        before += rank < ranks->rank, within += rank == ranks->rank;
    }
    *first = before, *end = before + within;
}

/* The pixels of all squares, those of other ranks' images too; malloc'd. */
static taper_status copy_squares(const square *s, size_t n, const train_dataset *data,
                                 uint8_t **pixels, taper_error *error) {
    const size_t bytes = s[n - 1].offset + s[n - 1].bytes;
    *pixels = calloc(bytes + 1, 1);
    if (!*pixels) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (train_is_here(data, s[i].image))
            copy_square(&data->image[s[i].image], &s[i], *pixels + s[i].offset);
    return train_sum_bytes(data->ranks, *pixels, bytes, error);
}

/* Windows of squares first .. end - 1, malloc'd, and their grids. */
static taper_status read_squares(train_conditional_batch *b, codec_window window,
                                 const train_dataset *data, const square *s, size_t n,
                                 uint8_t *pixels, float **rows) {
    const size_t values = codec_window_values(window);
    size_t windows = 0, most = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t all = (size_t)s[i].all.columns * s[i].all.rows;
        windows += windows_of(&s[i]), most = all > most ? all : most;
    }
    *rows = malloc((windows + most) * values * sizeof **rows);
    b->grid = malloc(n * sizeof *b->grid);
    if (!*rows || !b->grid) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; at += windows_of(&s[i++])) {
        read_square(window, &data->image[s[i].image], &s[i], pixels, *rows + windows * values,
                    *rows + at * values);
        b->grid[b->images++] = s[i].grid;
    }
    return TAPER_OK;
}

/* The batch of this rank's squares, whose pixels are given. */
static taper_status make_own(train_conditional_batch *b, const taper_model *m, codec_backend *be,
                             const train_dataset *data, const square *s, size_t n, uint8_t *pixels,
                             taper_error *error) {
    float *rows = NULL;
    if (!n) return TAPER_OK;
    taper_status status = read_squares(b, m->window, data, s, n, pixels, &rows);
    if (status == TAPER_OK)
        status = train_conditional_batch_fill(b, m, be, rows, error);
    else
        train_conditional_batch_free(b);
    free(rows);
    return status;
}

taper_status train_conditional_batch_make(train_conditional_batch *b, const taper_model *m,
                                          codec_backend *be, const train_draw *draw, size_t windows,
                                          uint32_t side, taper_error *error) {
    size_t n, first, end, total = 0;
    uint8_t *pixels = NULL;
    square *s = malloc(windows * sizeof *s);
    taper_status status = s ? TAPER_OK : TAPER_ERR_NOMEM;
    *b = (train_conditional_batch){0};
    if (status == TAPER_OK) {
        n = draw_squares(m->window, draw, windows, side, s);
        for (size_t i = 0; i < n; i++) total += windows_of(&s[i]);
        status = copy_squares(s, n, draw->data, &pixels, error);
    }
    if (status == TAPER_OK) {
        own_squares(s, n, draw->data->ranks, total, &first, &end);
        status = make_own(b, m, be, draw->data, s + first, end - first, pixels, error);
        b->windows = total;
    }
    free(s), free(pixels);
    if (status == TAPER_OK || status == TAPER_ERR_IO) return status;
    return formats_fail(error, status, "no memory for a batch of %zu windows", windows);
}

void train_conditional_batch_free(train_conditional_batch *b) {
    codec_chunk_coder_free(&b->coder);
    free(b->grid), free(b->x), free(b->code);
    *b = (train_conditional_batch){0};
}

/* --- the known state ------------------------------------------------------------------- */

enum { UNIT_BLOCK = 8, ROW_BLOCK = 128 };

typedef struct input_task {
    const codec_group *group;
    uint32_t own;
    int8_t *seen; /* [position][own] */
} input_task;

static void see_units(void *context, size_t block) {
    enum { LEVELS = 64 };
    const input_task *t = context;
    const codec_group *g = t->group;
    uint32_t own = t->own, end = (uint32_t)(block + 1) * UNIT_BLOCK;
    for (uint32_t u = (uint32_t)block * UNIT_BLOCK; u < own && u < end; u++) {
        const int16_t *level = g->level + (size_t)u * g->stride;
        int32_t table[2][LEVELS];
        for (uint32_t more = 0; more < 1u + (g->fraction[u] > 0); more++)
            for (uint32_t q = 0; q < LEVELS; q++)
                table[more][q] = codec_conditional_seen(g->tables, u, g->depth[u] + more, q);
        for (uint32_t p = 0; p < g->n; p++) {
            uint32_t q = (uint32_t)abs(level[p]), depth = codec_planes_known(g, u, p);
            int32_t a = q < LEVELS ? table[depth - g->depth[u]][q]
                                   : codec_conditional_seen(g->tables, u, depth, q);
            t->seen[(size_t)p * own + u] = (int8_t)(level[p] < 0 ? -a : a);
        }
    }
}

/* Updates the group by its next pass. */
static void send_pass(train_conditional_batch *b) {
    codec_group *g = &b->coder.group;
    codec_context_model *m = &b->coder.contexts;
    codec_pass pass = g->tables->pass[g->pass];
    size_t at = (size_t)pass.unit * g->stride;
    int shift = g->tables->planes[pass.unit] - pass.depth - 1;
    codec_contexts_predict(m, g);
    for (uint32_t p = 0; p < g->n; p++) {
        if (codec_contexts_at(m, g, p) == CODEC_SKIP) continue;
        int32_t magnitude = abs(b->code[at + p]) >> shift;
        g->level[at + p] = (int16_t)(b->code[at + p] < 0 ? -magnitude : magnitude);
        g->plane_known[at + p] = 1;
        codec_contexts_update(m, g, p, g->level[at + p]);
    }
    codec_group_finish_pass(g);
}

void train_conditional_know(train_conditional_batch *b, uint32_t pass) {
    codec_group *g = &b->coder.group;
    const codec_code_tables *t = g->tables;
    codec_group_know(g, b->code, pass);
    for (uint32_t i = 0; i < pass && t->fractions > 1; i++) {
        int whole = t->pass[i].depth < g->depth[t->pass[i].unit];
        g->pass = i;
        if (!whole) send_pass(b);
    }
    g->pass = pass;
}

void train_conditional_see(train_conditional_batch *b, codec_pool *pool, uint32_t pass,
                           uint32_t own, int8_t *seen) {
    input_task task = {&b->coder.group, own, seen};
    train_conditional_know(b, pass);
    codec_pool_run(pool, see_units, &task, (own + UNIT_BLOCK - 1) / UNIT_BLOCK);
}

void train_conditional_neighbours(const train_conditional_batch *b, uint32_t *neighbour) {
    const codec_group *g = &b->coder.group;
    for (uint32_t side = 0; side < TRAIN_SIDES; side++)
        for (uint32_t p = 0; p < g->n; p++)
            *neighbour++ = side == TRAIN_SELF ? p : codec_conditional_neighbour(g, p, side);
}

/* --- bits ------------------------------------------------------------------------------ */

typedef struct bit_task {
    train_conditional_batch *batch;
    train_bit *bit;  /* of position 0 in this pass */
    uint32_t passes; /* stride between positions */
} bit_task;

static float context_logit(const codec_context_model *m, const codec_group *g, uint32_t u,
                           uint32_t p, codec_kind kind) {
    int32_t f[CODEC_FEATURES];
    codec_contexts_features(m, g, p, kind, f);
    int32_t causal = m->causal.on ? codec_causal_logit(&m->causal, g, p, kind) : 0;
    return (float)(codec_contexts_logit(g->tables, codec_class(kind, u), f) + causal) / 4096.0f;
}

/* Bits of the group's next pass for a block of positions. */
static void look_up_bits(void *context, size_t block) {
    const bit_task *t = context;
    codec_group *g = &t->batch->coder.group;
    codec_context_model *m = &t->batch->coder.contexts;
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t u = pass.unit, end = (uint32_t)(block + 1) * ROW_BLOCK;
    int shift = g->tables->planes[u] - pass.depth - 1;
    int16_t *level = g->level + (size_t)u * g->stride;
    const int16_t *code = t->batch->code + (size_t)u * g->stride;
    uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    for (uint32_t p = (uint32_t)block * ROW_BLOCK; p < g->n && p < end; p++) {
        train_bit *to = &t->bit[(size_t)p * t->passes];
        *to = (train_bit){.kind = 1};
        if (codec_contexts_at(m, g, p) == CODEC_SKIP) continue;
        int32_t magnitude = abs(code[p]) >> shift;
        codec_kind kind = codec_kind_of_level(level[p]);
        *to = (train_bit){.kind = kind == CODEC_SIGNIFICANCE ? 0 : 2,
                          .bit = (uint8_t)(magnitude & 1),
                          .sign = (int8_t)(magnitude != 1 ? 0
                                           : code[p] < 0  ? -1
                                                          : 1)};
        to->offset[0] = context_logit(m, g, u, p, kind);
        if (to->sign) to->offset[1] = context_logit(m, g, u, p, CODEC_SIGN);
        level[p] = (int16_t)(code[p] < 0 ? -magnitude : magnitude);
        plane_known[p] = 1;
        codec_contexts_update(m, g, p, level[p]);
    }
}

void train_conditional_bits(train_conditional_batch *b, codec_pool *pool, uint32_t end,
                            train_bit *bit) {
    codec_group *g = &b->coder.group;
    codec_context_model *m = &b->coder.contexts;
    for (bit_task task = {b, bit, end - g->pass}; g->pass < end; task.bit++) {
        codec_contexts_predict(m, g);
        uint32_t blocks = (g->n + ROW_BLOCK - 1) / ROW_BLOCK;
        if (m->causal.on) /* positions depend on earlier ones */
            for (uint32_t block = 0; block < blocks; block++) look_up_bits(&task, block);
        else
            codec_pool_run(pool, look_up_bits, &task, blocks);
        codec_group_finish_pass(g);
    }
}
