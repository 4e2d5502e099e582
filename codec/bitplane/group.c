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

uint64_t codec_group_bytes(const codec_code_tables *tables, uint64_t positions) {
    enum { A_UNIT = 2 + 1 + 2, LINKS = 4 * 4 + 1 };
    if (positions >= (uint64_t)1 << 40) return UINT64_MAX;
    return codec_group_stride(positions) *
               ((uint64_t)tables->units * A_UNIT + CODEC_SIGNED_UNITS * 2 + LINKS) +
           2 * (uint64_t)tables->units + positions * (sizeof(codec_run) + 2 * sizeof(uint16_t)) +
           sizeof(codec_group);
}

uint64_t codec_group_coding_bytes(const codec_code_tables *tables, uint64_t positions) {
    if (positions >= (uint64_t)1 << 40) return UINT64_MAX;
    return codec_group_stride(positions) * 2 * ((uint64_t)tables->units + CODEC_SIGNED_UNITS);
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

/* Allocate the arrays for groups where an image has several windows. */
static int allocate_linked(codec_group *g, size_t n_images) {
    size_t stride = g->stride;
    g->sides = calloc(stride, 1);
    g->run = calloc(n_images, sizeof *g->run);
    int ok = g->sides && g->run;
    for (int i = 0; i < 4; i++)
        ok = (g->neighbour[i] = calloc(stride, sizeof *g->neighbour[i])) && ok;
    return ok;
}

static int take_memory(codec_group *g) {
    size_t stride = g->stride, units = g->tables->units;
    g->level = calloc(units * stride, sizeof *g->level);
    g->depth = calloc(units, 1);
    g->fraction = calloc(units, 1);
    g->plane_known = calloc(units * stride, 1);
    return g->level && g->depth && g->fraction && g->plane_known;
}

/* Set the norms of a unit of which nothing is known. */
static void clear_norms(codec_group *g, uint32_t u) {
    uint16_t unknown = g->tables->zero_norm[CODEC_RATIO_BINS - 1];
    size_t at = (size_t)u * g->stride;
    for (uint32_t p = 0; p < g->n; p++) g->norm[at + p] = unknown;
    memset(g->norm + at + g->n, 0, (g->stride - g->n) * sizeof *g->norm);
    if (g->signed_norm && u < CODEC_SIGNED_UNITS)
        memset(g->signed_norm + at, 0, g->n * sizeof *g->signed_norm);
}

static taper_status no_memory(codec_group *g, taper_error *error) {
    formats_fail(error, TAPER_ERR_NOMEM, "no memory for a group of %u windows; use smaller groups",
                 g->n);
    codec_group_free(g);
    return TAPER_ERR_NOMEM;
}

taper_status codec_group_open(codec_group *g, const codec_code_tables *tables,
                              const codec_grid *grid, size_t n_images, taper_error *error) {
    *g = (codec_group){.tables = tables};
    uint64_t n = 0;
    int linked = 0;
    for (size_t i = 0; i < n_images; i++) {
        uint64_t windows = (uint64_t)grid[i].columns * grid[i].rows;
        n += windows;
        linked |= windows > 1 && !tables->density;
        g->widest = grid[i].columns > g->widest ? grid[i].columns : g->widest;
        if (n > INT32_MAX)
            return formats_fail(error, TAPER_ERR_LIMIT,
                                "a group holds more than 2^31 windows; use smaller groups");
    }
    g->n = (uint32_t)n;
    g->stride = (uint32_t)codec_group_stride(n);
    if (!take_memory(g) || (linked && !allocate_linked(g, n_images))) return no_memory(g, error);
    if (linked) link_neighbours(g, grid, n_images);
    return TAPER_OK;
}

taper_status codec_group_begin_coding(codec_group *g, taper_error *error) {
    const size_t stride = g->stride, units = g->tables->units, margin = g->widest;
    if (g->tables->density) return TAPER_OK;
    g->norm_memory = malloc((units * stride + 2 * margin) * sizeof *g->norm);
    if (g->sides) g->signed_norm = calloc(CODEC_SIGNED_UNITS * stride, sizeof *g->signed_norm);
    if (!g->norm_memory || !g->signed_norm != !g->sides) return no_memory(g, error);
    g->norm = g->norm_memory + margin; /* clear_norms sets the rest */
    memset(g->norm_memory, 0, margin * sizeof *g->norm);
    memset(g->norm + units * stride, 0, margin * sizeof *g->norm);
    for (uint32_t u = 0; u < units; u++) clear_norms(g, u);
    return TAPER_OK;
}

taper_status codec_group_alloc(codec_group *g, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error) {
    TAPER_TRY(codec_group_open(g, tables, grid, n_images, error));
    return codec_group_begin_coding(g, error);
}

void codec_group_reset(codec_group *g) {
    const codec_code_tables *t = g->tables;
    memset(g->level, 0, (size_t)t->units * g->stride * sizeof *g->level);
    memset(g->plane_known, 0, (size_t)t->units * g->stride);
    memset(g->depth, 0, t->units), memset(g->fraction, 0, t->units);
    g->pass = g->position = 0;
    for (uint32_t u = 0; u < t->units && !t->density; u++) clear_norms(g, u);
}

void codec_group_end_coding(codec_group *g) {
    free(g->norm_memory), free(g->signed_norm);
    g->norm = g->norm_memory = NULL;
    g->signed_norm = NULL;
}

void codec_group_free(codec_group *g) {
    if (!g) return;
    codec_group_end_coding(g);
    free(g->level), free(g->sides), free(g->run);
    free(g->depth), free(g->fraction), free(g->plane_known);
    for (int i = 0; i < 4; i++) free(g->neighbour[i]);
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

/* Update the norms of unit u at positions with this plane_known. */
static void refresh_norms(codec_group *g, uint32_t u, uint8_t plane_known) {
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
