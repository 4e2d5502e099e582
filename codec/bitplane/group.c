/* group.c -- the shared state of a group's codes; see group.h. */
#include "codec/bitplane/group.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/causal.h"
#include "codec/bitplane/head.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>
#include <string.h>

uint64_t codec_group_stride(uint64_t positions) {
    enum { ALIGN = 32 };
    return (positions + 1 + ALIGN - 1) / ALIGN * ALIGN;
}

uint64_t codec_group_bytes(const codec_code_tables *tables, uint64_t positions) {
    if (positions >= (uint64_t)1 << 40) return UINT64_MAX;
    uint64_t stride = codec_group_stride(positions);
    uint64_t conditional =
        tables->conditional ? codec_conditional_bytes(tables->conditional, positions) : 0;
    return stride * ((uint64_t)tables->units * 5 + CODEC_SIGNED_UNITS * 2 + 7 * 4 + 18) +
           2 * (uint64_t)tables->units + positions * sizeof(codec_run) +
           (tables->causal ? codec_causal_bytes(positions) : 0) + conditional + sizeof(codec_group);
}

static void add_to_runs(codec_group *g, uint32_t first, codec_grid grid) {
    if (!g->runs || g->run[g->runs - 1].columns != grid.columns)
        g->run[g->runs++] = (codec_run){first, first, grid.columns};
    g->run[g->runs - 1].end += grid.columns * grid.rows;
}

/* Left, right, up and down of every window, by position; n where the image ends. */
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

/* Each bin begins at its own logit plus the model's correction, trusted as CONFIDENCE observations.
 */
static void set_priors(codec_group *g) {
    enum { CONFIDENCE = 24 };
    for (uint32_t c = 0; c < CODEC_CLASSES; c++)
        for (uint32_t b = 0; b < CODEC_BINS; b++) {
            int32_t logit = ((int32_t)b - CODEC_BINS / 2) * 16 + g->tables->prior[c][b] * 2;
            g->model[c][b] = (codec_bit){codec_squash(logit), CONFIDENCE};
        }
}

/* Of groups where an image has several windows. */
static int take_linked(codec_group *g, size_t n_images) {
    size_t stride = g->stride;
    g->signed_norm = calloc(CODEC_SIGNED_UNITS * stride, sizeof *g->signed_norm);
    g->sides = calloc(stride, 1);
    g->run = calloc(n_images, sizeof *g->run);
    g->work_signed = calloc(stride, sizeof *g->work_signed);
    g->work_part = calloc(stride, sizeof *g->work_part);
    int ok = g->signed_norm && g->sides && g->run && g->work_signed && g->work_part;
    for (int i = 0; i < 4; i++)
        ok = (g->neighbour[i] = calloc(stride, sizeof *g->neighbour[i])) && ok;
    return ok;
}

static taper_status take_memory(codec_group *g) {
    size_t stride = g->stride, units = g->tables->units;
    g->level = calloc(units * stride, sizeof *g->level);
    g->depth = calloc(units, 1);
    g->fraction = calloc(units, 1);
    g->plane_known = calloc(units * stride, 1);
    int ok = g->level && g->depth && g->fraction && g->plane_known;
    if (g->tables->density) return ok ? TAPER_OK : TAPER_ERR_NOMEM;
    g->norm = calloc(units * stride, sizeof *g->norm);
    g->context = calloc(stride, sizeof *g->context);
    g->work_logit = calloc(stride, sizeof *g->work_logit);
    g->zeros = calloc(stride, sizeof *g->zeros);
    ok = ok && g->norm && g->context && g->work_logit && g->zeros;
    if (g->tables->conditional)
        ok = codec_conditional_begin(&g->conditional, g->tables->conditional, g->n) == TAPER_OK &&
             ok;
    for (int i = 0; i < 4; i++) ok = (g->work[i] = calloc(stride, sizeof *g->work[i])) && ok;
    return ok ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Of a unit nothing is known of. */
static void forget_norms(codec_group *g, uint32_t u) {
    uint16_t unknown = g->tables->zero_norm[CODEC_RATIO_BINS - 1];
    size_t at = (size_t)u * g->stride;
    for (uint32_t p = 0; p < g->n; p++) g->norm[at + p] = unknown;
    if (g->signed_norm && u < CODEC_SIGNED_UNITS)
        memset(g->signed_norm + at, 0, g->n * sizeof *g->signed_norm);
}

taper_status codec_group_alloc(codec_group *g, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error) {
    *g = (codec_group){.tables = tables};
    uint64_t n = 0;
    int linked = 0;
    for (size_t i = 0; i < n_images; i++) {
        uint64_t windows = (uint64_t)grid[i].columns * grid[i].rows;
        n += windows;
        linked |= windows > 1 && !tables->density;
        if (n > INT32_MAX)
            return formats_fail(error, TAPER_ERR_LIMIT,
                                "a group holds more than 2^31 windows; use smaller groups");
    }
    g->n = (uint32_t)n;
    g->stride = (uint32_t)codec_group_stride(n);
    int ok = take_memory(g) == TAPER_OK && (!linked || take_linked(g, n_images));
    if (ok && linked) link_neighbours(g, grid, n_images);
    if (!ok || (linked && tables->causal && codec_causal_begin(g) != TAPER_OK)) {
        codec_group_free(g);
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "no memory for a group of %llu windows; use smaller groups",
                            (unsigned long long)n);
    }
    if (tables->density) return TAPER_OK;
    for (uint32_t u = 0; u < tables->units; u++) forget_norms(g, u);
    set_priors(g);
    return TAPER_OK;
}

void codec_group_forget(codec_group *g) {
    const codec_code_tables *t = g->tables;
    memset(g->level, 0, (size_t)t->units * g->stride * sizeof *g->level);
    memset(g->plane_known, 0, (size_t)t->units * g->stride);
    memset(g->depth, 0, t->units), memset(g->fraction, 0, t->units);
    g->pass = g->position = 0;
    g->predicted = g->awaits_sign = g->causal.on = 0;
    if (t->density) return;
    for (uint32_t u = 0; u < t->units; u++) forget_norms(g, u);
    set_priors(g);
    if (t->conditional) codec_conditional_forget(&g->conditional, g->n);
}

void codec_group_free(codec_group *g) {
    if (!g) return;
    free(g->level), free(g->norm), free(g->signed_norm), free(g->sides), free(g->run);
    free(g->depth), free(g->fraction), free(g->plane_known);
    free(g->context), free(g->work_signed), free(g->work_part), free(g->work_logit), free(g->zeros);
    for (int i = 0; i < 4; i++) free(g->neighbour[i]);
    for (int i = 0; i < 4; i++) free(g->work[i]);
    codec_causal_end(g);
    codec_conditional_end(&g->conditional);
    *g = (codec_group){0};
}

/* (q + c) T / scale in units of 1/one, capped. c in 1/256. */
static uint32_t scaled_magnitude(uint32_t q, uint32_t c, int32_t log_ratio, uint32_t one,
                                 uint32_t cap) {
    uint64_t value = codec_scale_exp2((uint64_t)((q << 8) + c) * one, log_ratio) >> 8;
    return value < cap ? (uint32_t)value : cap;
}

enum { LEVELS_IN_TABLE = 64 };

/* Levels that are 0, most of them, all at once. */
CODEC_CLONES static void refresh_zeros(const int16_t *restrict level,
                                       const uint8_t *restrict is_known, uint8_t plane_known,
                                       uint16_t zero_norm, uint32_t n, uint16_t *restrict norm) {
    for (uint32_t p = 0; p < n; p++) { /* by a mask: compilers leave a condition one by one */
        uint16_t other = (uint16_t)((is_known[p] ^ plane_known) | level[p]);
        uint16_t mask = CODEC_MASK16(other == 0);
        norm[p] = (uint16_t)((norm[p] & ~mask) | (zero_norm & mask));
    }
}

/* Refresh what is known of unit u where plane_known is `plane_known`. */
static void refresh_norms(codec_group *g, uint32_t u, uint8_t plane_known) {
    const codec_code_tables *t = g->tables;
    uint32_t depth = (uint32_t)g->depth[u] + plane_known;
    int32_t ratio = codec_log_ratio(t, u, depth);
    const uint8_t *recon = t->recon[codec_ratio_bin(ratio)];
    uint16_t table[LEVELS_IN_TABLE] = {0};
    int16_t signed_table[LEVELS_IN_TABLE] = {0};
    for (uint32_t q = 1; q < LEVELS_IN_TABLE && q >> depth == 0; q++) { /* as levels are */
        uint32_t c = recon[(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
        table[q] = (uint16_t)scaled_magnitude(q, c, ratio, CODEC_NORM_ONE, CODEC_NORM_MAX);
        signed_table[q] =
            (int16_t)scaled_magnitude(q, c, ratio, CODEC_SIGNED_ONE, CODEC_SIGNED_MAX);
    }
    const int16_t *level = g->level + (size_t)u * g->stride;
    uint16_t *norm = g->norm + (size_t)u * g->stride;
    int16_t *known =
        g->signed_norm && u < CODEC_SIGNED_UNITS ? g->signed_norm + (size_t)u * g->stride : NULL;
    const uint8_t *is_known = g->plane_known + (size_t)u * g->stride;
    uint32_t last = recon[CODEC_RECON_LEVELS - 1];
    refresh_zeros(level, is_known, plane_known, t->zero_norm[codec_ratio_bin(ratio)], g->n, norm);
    for (uint32_t p = 0; (p = codec_next_nonzero(level, p, g->n)) < g->n; p++) {
        if (is_known[p] != plane_known) continue;
        uint32_t q = (uint32_t)abs(level[p]);
        norm[p] = q < LEVELS_IN_TABLE
                      ? table[q]
                      : (uint16_t)scaled_magnitude(q, last, ratio, CODEC_NORM_ONE, CODEC_NORM_MAX);
        if (!known) continue;
        int32_t v =
            q < LEVELS_IN_TABLE
                ? signed_table[q]
                : (int32_t)scaled_magnitude(q, last, ratio, CODEC_SIGNED_ONE, CODEC_SIGNED_MAX);
        known[p] = (int16_t)(level[p] < 0 ? -v : v);
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
        forget_norms(g, u);
        if (g->depth[u]) refresh_norms(g, u, 0);
    }
    g->pass = pass;
    g->position = 0;
    g->predicted = g->awaits_sign = g->causal.on = 0;
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
    g->predicted = 0;
}

uint32_t codec_group_units_known(const codec_group *g) {
    uint32_t known = 0;
    if (g->tables->head) return g->tables->units;
    for (uint32_t u = 0; u < g->tables->units; u++)
        if (g->depth[u] || codec_group_is_split(g, u)) known = u + 1;
    return known;
}

/* Values of levels 1 .. LEVELS_IN_TABLE - 1 of a unit at a depth: (q + c) T. */
typedef struct level_values {
    float value[LEVELS_IN_TABLE], threshold, last;
} level_values;

static level_values values_at(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))];
    level_values v = {.threshold = t->step[u] * (float)((uint32_t)1 << (t->planes[u] - depth)),
                      .last = (float)recon[CODEC_RECON_LEVELS - 1] / 256.0f};
    for (uint32_t q = 1; q < LEVELS_IN_TABLE; q++)
        v.value[q] =
            ((float)q +
             (float)recon[(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1] / 256.0f) *
            v.threshold;
    return v;
}

static float value_of_level(const level_values *v, int32_t level) {
    uint32_t q = (uint32_t)abs(level);
    float magnitude = q < LEVELS_IN_TABLE ? v->value[q] : ((float)q + v->last) * v->threshold;
    return level < 0 ? -magnitude : magnitude;
}

/* Of a binary model: bits less the centre, and 0 where nothing is known. */
static void dequantise_bits(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    for (uint32_t u = 0; u < t->units; u++) {
        const int16_t *level = g->level + (size_t)u * g->stride;
        for (uint32_t p = first; p < first + n; p++)
            x[(size_t)(p - first) * t->units + u] =
                codec_planes_known(g, u, p) ? (float)level[p] - t->centre : 0.0f;
    }
}

void codec_group_dequantise(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    if (t->density) {
        dequantise_bits(g, first, n, x);
        return;
    }
    for (uint32_t u = 0; u < t->units; u++) {
        size_t at = (size_t)u * g->stride + first;
        int split = codec_group_is_split(g, u);
        if (!g->depth[u] && !split) {
            for (uint32_t p = 0; p < n; p++) x[(size_t)p * t->units + u] = 0;
            continue;
        }
        level_values values[2] = {values_at(t, u, g->depth[u])};
        if (split) values[1] = values_at(t, u, g->depth[u] + 1u);
        for (uint32_t p = 0; p < n; p++)
            x[(size_t)p * t->units + u] =
                value_of_level(&values[g->plane_known[at + p]], g->level[at + p]);
    }
    if (t->head) codec_head_add(g, first, n, x);
}

static int16_t quantise(const codec_code_tables *t, uint32_t u, float x, uint32_t planes) {
    if (t->density) return x > 0; /* NaN: 0 */
    float top = (float)(((uint32_t)1 << planes) - 1);
    float magnitude = (x < 0 ? -x : x) / t->step[u];
    if (!(magnitude >= 1.0f)) return 0; /* NaN too */
    int32_t m = (int32_t)(magnitude < top ? magnitude : top);
    return (int16_t)(x < 0 ? -m : m);
}

int16_t codec_quantise(const codec_code_tables *t, uint32_t u, float x) {
    return quantise(t, u, x, t->planes[u]);
}

int16_t codec_quantise_wide(const codec_code_tables *t, uint32_t u, float x) {
    return quantise(t, u, x, CODEC_MAX_PLANES);
}
