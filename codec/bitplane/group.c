/* group.c -- see group.h. */
#include "codec/bitplane/group.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/conditional.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>
#include <string.h>

uint64_t codec_group_stride(uint64_t positions) {
    enum { ALIGN = 32 };
    return (positions + 16 + ALIGN - 1) / ALIGN * ALIGN;
}

void codec_group_shape_add(codec_group_shape *s, codec_grid grid) {
    const uint64_t windows = (uint64_t)grid.columns * grid.rows;
    if (formats_add_u64(s->windows, windows, &s->windows) != TAPER_OK) s->windows = UINT64_MAX;
    s->runs += !s->images++ || s->columns != grid.columns;
    s->columns = grid.columns;
    s->widest = grid.columns > s->widest ? grid.columns : s->widest;
    s->several |= windows > 1;
}

codec_group_shape codec_group_shape_of(const codec_grid *grid, size_t n_images) {
    codec_group_shape s = {0};
    for (size_t i = 0; i < n_images; i++) codec_group_shape_add(&s, grid[i]);
    return s;
}

void codec_group_lay_out(codec_group *g, const codec_code_tables *t, const codec_group_shape *shape,
                         codec_group_layout *at) {
    formats_layout *core = &at->core, *levels = &at->levels;
    const uint64_t units = t->units, n = shape->windows <= INT32_MAX ? shape->windows : 0,
                   stride = codec_group_stride(n), margin = shape->widest;
    g->tables = t, g->n = (uint32_t)n, g->stride = (uint32_t)stride;
    g->widest = shape->widest, g->linked = shape->several && !t->density;
    if (n < shape->windows) formats_lay(core, UINT64_MAX, 1);
    g->level = formats_lay(levels, units * stride, sizeof *g->level);
    g->plane_known = formats_lay(levels, units * stride, 1);
    g->depth = formats_lay(core, units, 1);
    g->fraction = formats_lay(core, units, 1);
    if (g->linked) {
        for (int i = 0; i < 4; i++)
            g->neighbour[i] = formats_lay(core, stride, sizeof *g->neighbour[i]);
        g->sides = formats_lay(core, stride, 1);
        g->run = formats_lay(core, shape->runs, sizeof *g->run);
        g->signed_norm =
            formats_lay(&at->coding, CODEC_SIGNED_UNITS * stride, sizeof *g->signed_norm);
    }
    if (t->density) return;
    uint16_t *norm = formats_lay(&at->unset, units * stride + 2 * margin, sizeof *norm);
    g->norm = norm ? norm + margin : NULL;
}

static void add_to_runs(codec_group *g, uint32_t first, codec_grid grid) {
    if (!g->runs || g->run[g->runs - 1].columns != grid.columns)
        g->run[g->runs++] = (codec_run){first, first, grid.columns};
    g->run[g->runs - 1].end += grid.columns * grid.rows;
}

/* Set the left, right, upper and lower neighbour of every position; n at the border of the image.
 */
static void link_neighbours(codec_group *g, const codec_grid *grid, size_t n_images) {
    uint32_t at = 0;
    for (size_t i = 0; i < n_images; i++) {
        uint32_t columns = grid[i].columns, rows = grid[i].rows;
        add_to_runs(g, at, grid[i]);
        for (uint32_t y = 0; y < rows; y++)
            for (uint32_t x = 0; x < columns; x++, at++) {
                g->neighbour[CODEC_LEFT][at] = x > 0 ? at - 1 : g->n;
                g->neighbour[CODEC_RIGHT][at] = x + 1 < columns ? at + 1 : g->n;
                g->neighbour[CODEC_UP][at] = y > 0 ? at - columns : g->n;
                g->neighbour[CODEC_DOWN][at] = y + 1 < rows ? at + columns : g->n;
                g->sides[at] = (uint8_t)((x > 0) << CODEC_LEFT | (x + 1 < columns) << CODEC_RIGHT |
                                         (y > 0) << CODEC_UP | (y + 1 < rows) << CODEC_DOWN);
            }
    }
    for (int side = 0; side < 4; side++) g->neighbour[side][g->n] = g->n;
}

/* Set the norms of a unit of which nothing is known. */
__attribute__((noinline)) static void clear_norms(codec_group *g, uint32_t u) {
    uint16_t unknown = g->tables->zero_norm[CODEC_RATIO_BINS - 1];
    size_t at = (size_t)u * g->stride;
    for (uint32_t p = 0; p < g->n; p++) g->norm[at + p] = unknown;
    memset(g->norm + at + g->n, 0, (g->stride - g->n) * sizeof *g->norm);
    if (g->signed_norm && u < CODEC_SIGNED_UNITS)
        memset(g->signed_norm + at, 0, g->n * sizeof *g->signed_norm);
}

void codec_group_set_norms(codec_group *g, uint32_t end) {
    if (!g->norm) return;
    if (end > g->tables->units) end = g->tables->units;
    while (g->norms < end) clear_norms(g, g->norms++);
}

/* Set the norms that the next pass looks at. */
static void reach_norms(codec_group *g) {
    if (g->pass < g->tables->n_passes)
        codec_group_set_norms(g, g->tables->pass[g->pass].unit + CODEC_FARTHEST + 1);
}

uint64_t codec_group_layout_bytes(const codec_group_layout *at) {
    uint64_t sum;
    if (formats_add_u64(at->core.used, at->levels.used, &sum) != TAPER_OK ||
        formats_add_u64(sum, at->coding.used, &sum) != TAPER_OK ||
        formats_add_u64(sum, at->unset.used, &sum) != TAPER_OK)
        return UINT64_MAX;
    return sum;
}

taper_status codec_group_take(codec_group_blocks *b, codec_group_layout *at,
                              const codec_group_shape *shape, formats_account *account,
                              taper_error *error) {
    *b = (codec_group_blocks){0};
    if (shape->windows > INT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "a group holds more than 2^31 windows; use smaller groups");
    taper_status status = formats_block_take(&b->core, &at->core, account);
    if (status == TAPER_OK) status = formats_block_take(&b->levels, &at->levels, account);
    if (status == TAPER_OK) status = formats_block_take(&b->coding, &at->coding, account);
    if (status == TAPER_OK) status = formats_block_take_unset(&b->unset, &at->unset, account);
    if (status == TAPER_OK) return TAPER_OK;
    codec_group_release(b);
    return formats_fail(error, status, "no memory for a group of %u windows; use smaller groups",
                        (uint32_t)shape->windows);
}

void codec_group_end_coding(codec_group_blocks *b) {
    formats_block_free(&b->coding), formats_block_free(&b->unset);
}

void codec_group_release(codec_group_blocks *b) {
    codec_group_end_coding(b);
    formats_block_free(&b->core), formats_block_free(&b->levels);
}

static void clear_margins(codec_group *g) {
    const size_t stride = g->stride, units = g->tables->units, margin = g->widest;
    memset(g->norm - margin, 0, margin * sizeof *g->norm);
    memset(g->norm + units * stride, 0, margin * sizeof *g->norm);
}

void codec_group_begin(codec_group *g, const codec_grid *grid, size_t n_images) {
    if (g->linked) link_neighbours(g, grid, n_images);
    if (!g->norm) return;
    clear_margins(g);
    g->norms = 0;
    reach_norms(g);
}

taper_status codec_group_alloc(codec_group *g, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error) {
    const codec_group_shape shape = codec_group_shape_of(grid, n_images);
    codec_group_layout at = {0};
    codec_group_blocks own;
    codec_group_lay_out(g, tables, &shape, &at);
    *g = (codec_group){0};
    TAPER_TRY(codec_group_take(&own, &at, &shape, NULL, error));
    codec_group_lay_out(g, tables, &shape, &at);
    g->own = own;
    codec_group_begin(g, grid, n_images);
    return TAPER_OK;
}

void codec_group_reset(codec_group *g) {
    const codec_code_tables *t = g->tables;
    memset(g->level, 0, (size_t)t->units * g->stride * sizeof *g->level);
    memset(g->plane_known, 0, (size_t)t->units * g->stride);
    memset(g->depth, 0, t->units), memset(g->fraction, 0, t->units);
    g->pass = g->position = 0;
    for (uint32_t u = 0; u < g->norms; u++) clear_norms(g, u);
    reach_norms(g);
}

void codec_group_free(codec_group *g) {
    if (!g) return;
    codec_group_release(&g->own);
    *g = (codec_group){0};
}

/* (q + c) T / scale in units of 1/one, clamped. c is in 1/256. */
static uint32_t scaled_magnitude(uint32_t q, uint32_t c, int32_t log_ratio, uint32_t one,
                                 uint32_t cap) {
    uint64_t value = codec_scale_exp2((uint64_t)((q << 8) + c) * one, log_ratio) >> 8;
    return value < cap ? (uint32_t)value : cap;
}

enum { LEVELS_IN_TABLE = 64 };

/* Set the norms of all levels that are 0, which are most of them. */
CODEC_CLONES static void refresh_zeros(const int16_t *restrict level,
                                       const uint8_t *restrict is_known, uint8_t plane_known,
                                       uint16_t zero_norm, uint32_t n, uint16_t *restrict norm) {
    for (uint32_t p = 0; p < n; p++) { /* a mask, as compilers do not vectorise a branch here */
        uint16_t other = (uint16_t)((is_known[p] ^ plane_known) | level[p]);
        uint16_t mask = CODEC_MASK16(other == 0);
        norm[p] = (uint16_t)((norm[p] & ~mask) | (zero_norm & mask));
    }
}

/* The norms of a unit's levels, which are computed when the first such level occurs. */
typedef struct level_norms {
    const uint8_t *recon;
    int32_t ratio;
    uint64_t has; /* the levels below LEVELS_IN_TABLE that the table has */
    uint16_t norm[LEVELS_IN_TABLE];
    int16_t value[LEVELS_IN_TABLE];
} level_norms;

static void norms_of(const level_norms *t, uint32_t q, uint16_t *norm, int16_t *value) {
    uint32_t c = t->recon[(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
    *norm = (uint16_t)scaled_magnitude(q, c, t->ratio, CODEC_NORM_ONE, CODEC_NORM_MAX);
    *value = (int16_t)scaled_magnitude(q, c, t->ratio, CODEC_SIGNED_ONE, CODEC_SIGNED_MAX);
}

static inline void look_up_norms(level_norms *t, uint32_t q, uint16_t *norm, int16_t *value) {
    if (q >= LEVELS_IN_TABLE) {
        norms_of(t, q, norm, value);
        return;
    }
    if (!(t->has >> q & 1)) norms_of(t, q, &t->norm[q], &t->value[q]);
    t->has |= (uint64_t)1 << q;
    *norm = t->norm[q], *value = t->value[q];
}

/* Update the norms of unit u at positions with this plane_known. Not inlined, for its size. */
__attribute__((noinline)) static void refresh_norms(codec_group *g, uint32_t u,
                                                    uint8_t plane_known) {
    const codec_code_tables *t = g->tables;
    int32_t ratio = codec_log_ratio(t, u, (uint32_t)g->depth[u] + plane_known);
    level_norms levels;
    levels.recon = t->recon[codec_ratio_bin(ratio)], levels.ratio = ratio, levels.has = 0;
    size_t at = (size_t)u * g->stride;
    const int16_t *level = g->level + at;
    uint16_t *norm = g->norm + at;
    int16_t *known = g->signed_norm && u < CODEC_SIGNED_UNITS ? g->signed_norm + at : NULL;
    const uint8_t *is_known = g->plane_known + at;
    refresh_zeros(level, is_known, plane_known, t->zero_norm[codec_ratio_bin(ratio)], g->n, norm);
    for (uint32_t p = 0; (p = codec_next_nonzero(level, p, g->n)) < g->n; p++) {
        if (is_known[p] != plane_known) continue;
        int16_t value;
        look_up_norms(&levels, (uint32_t)abs(level[p]), &norm[p], &value);
        if (known) known[p] = (int16_t)(level[p] < 0 ? -value : value);
    }
}

void codec_group_make_norms(codec_group *g) {
    if (!g->norm) return;
    clear_margins(g);
    for (uint32_t u = 0; u < g->norms; u++) {
        clear_norms(g, u);
        if (g->depth[u]) refresh_norms(g, u, 0);
        if (g->fraction[u]) refresh_norms(g, u, 1);
    }
}

void codec_group_know(codec_group *g, const int16_t *code, uint32_t pass) {
    const codec_code_tables *t = g->tables;
    memset(g->depth, 0, t->units), memset(g->fraction, 0, t->units);
    memset(g->plane_known, 0, (size_t)t->units * g->stride);
    for (uint32_t i = 0; i < pass; i++)
        g->depth[t->pass[i].unit] += t->pass[i].fraction + 1u == t->fractions;
    for (uint32_t u = 0; u < t->units; u++) {
        size_t at = (size_t)u * g->stride;
        int shift = t->planes[u] - g->depth[u];
        for (uint32_t p = 0; p < g->n; p++) {
            int32_t m = code[at + p];
            g->level[at + p] = (int16_t)(m < 0 ? -(-m >> shift) : m >> shift);
        }
        clear_norms(g, u);
        if (g->depth[u]) refresh_norms(g, u, 0);
    }
    g->norms = t->units;
    g->pass = pass;
    g->position = 0;
}

void codec_group_finish_pass(codec_group *g) {
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t u = pass.unit;
    int last = pass.fraction + 1u == g->tables->fractions;
    g->depth[u] = (uint8_t)(g->depth[u] + last);
    g->fraction[u] = (uint8_t)(last ? 0 : pass.fraction + 1);
    if (last) memset(g->plane_known + (size_t)u * g->stride, 0, g->n);
    if (!g->tables->density) refresh_norms(g, u, (uint8_t)!last);
    g->pass++;
    g->position = 0;
    reach_norms(g);
}

int codec_group_has_head(const codec_group *g) {
    return g->tables->head && codec_model_pass(g->tables, g->pass) < g->tables->head->end;
}

uint32_t codec_group_units_known(const codec_group *g) {
    uint32_t known = 0;
    if (codec_group_has_head(g)) return g->tables->units;
    for (uint32_t u = 0; u < g->tables->units; u++)
        if (g->depth[u] || codec_group_is_split(g, u)) known = u + 1;
    return known;
}

uint32_t codec_group_last_known(const codec_group *g) { return g->position ? g->position : g->n; }
