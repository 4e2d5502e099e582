/* parked_strips.c -- see parked_strips.h. */
#include "codec/parking/parked_strips.h"
#include "codec/backend/pool.h"
#include "codec/parking/packed_rows.h"
#include <string.h>

/* --- a pass that has begun ------------------------------------------------------------- */

/* One with contexts. */
static int has_begun(const codec_chunk_coder *c) {
    return c->predicted && !c->group.tables->density;
}

/* The levels and known planes of its unit before it began. */
static void find_before(const codec_chunk_coder *c, int16_t *level, uint8_t *plane_known) {
    const codec_group *g = &c->group;
    const size_t at = (size_t)g->tables->pass[g->pass].unit * g->stride;
    memcpy(level, g->level + at, g->n * sizeof *level);
    memcpy(plane_known, g->plane_known + at, g->n);
    for (uint32_t p = 0; p < g->position; p++) {
        if (c->contexts.context[p] == CODEC_SKIP) continue;
        level[p] = (int16_t)(level[p] / 2), plane_known[p] = 0;
    }
}

/* Go back to these. They become what is known now. */
static void go_back(codec_chunk_coder *c, int16_t *level, uint8_t *plane_known) {
    const codec_group *g = &c->group;
    const size_t at = (size_t)g->tables->pass[g->pass].unit * g->stride;
    for (uint32_t p = 0; p < g->n; p++) {
        const int16_t now = g->level[at + p];
        g->level[at + p] = level[p], level[p] = now;
    }
    memcpy(g->plane_known + at, plane_known, g->n);
}

/* Predict the pass, and go through the positions that are decoded, as if they were decoded now.
 * level: after that. */
static void decode_again(codec_chunk_coder *c, const int16_t *level) {
    codec_group *g = &c->group;
    codec_contexts_predict(&c->contexts, g);
    const size_t at = (size_t)g->tables->pass[g->pass].unit * g->stride;
    for (uint32_t p = 0; p < g->position; p++) {
        if (codec_contexts_at(&c->contexts, g, p) == CODEC_SKIP) continue;
        g->level[at + p] = level[p];
        codec_contexts_update(&c->contexts, g, p, level[p]);
    }
    for (uint32_t p = 0; p < g->position; p++)
        g->plane_known[at + p] |= c->contexts.context[p] != CODEC_SKIP;
}

/* --- packing --------------------------------------------------------------------------- */

/* What is packed: of passes that have begun, what was known before them; and rows. */
typedef struct packed {
    int16_t *level;       /* [windows] see find_before */
    uint8_t *plane_known; /* [windows] */
    uint8_t *rows;        /* levels and known planes of all strips; then the coding's inputs */
} packed;

static void lay_out(packed *p, const codec_strips *s, uint64_t rows, formats_layout *at) {
    const uint64_t windows = s->first[s->n];
    p->level = formats_lay(at, windows, sizeof *p->level);
    p->plane_known = formats_lay(at, windows, 1);
    p->rows = at->memory ? (uint8_t *)at->memory + at->used : NULL;
    at->used += rows;
}

/* Where rows are packed to; NULL: they are only counted. */
static uint8_t *behind(uint8_t *to, uint64_t bytes) { return to ? to + bytes : NULL; }

/* The levels of all strips. Returns their bytes. */
static uint64_t pack_all_levels(const codec_strips *s, uint8_t *to) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_group *g = &s->coder[i].group;
        for (size_t u = 0, at = 0; u < g->tables->units; u++, at += g->stride) {
            bytes += codec_pack_row(g->level + at, 2, g->n, behind(to, bytes));
            bytes += codec_pack_row(g->plane_known + at, 1, g->n, behind(to, bytes));
        }
    }
    return bytes;
}

/* What the conditional model of each strip has seen. Returns its bytes. */
static uint64_t pack_all_seen(const codec_strips *s, uint8_t *to) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_chunk_coder *c = &s->coder[i];
        const codec_conditional_state *state = &c->contexts.conditional;
        if (!codec_conditional_is_needed(state, &c->group)) continue;
        for (size_t u = 0; u < state->model->own; u++)
            bytes += codec_pack_row(state->seen + u * c->group.n, 1, c->group.n, behind(to, bytes));
    }
    return bytes;
}

static taper_status pack(codec_strips *s) {
    const int can_code = codec_strips_can_code(s);
    const uint64_t levels = pack_all_levels(s, NULL),
                   rows = levels + (can_code ? pack_all_seen(s, NULL) : 0);
    formats_layout at = {0};
    packed p;
    lay_out(&p, s, rows, &at);
    TAPER_TRY(formats_block_take_unset(&s->parked, &at, s->blocks.core.account));
    lay_out(&p, s, rows, &at);
    (void)pack_all_levels(s, p.rows);
    s->coding_at = can_code ? levels : 0;
    if (!can_code) return TAPER_OK;
    (void)pack_all_seen(s, p.rows + levels);
    for (uint32_t i = 0; i < s->n; i++)
        if (has_begun(&s->coder[i]))
            find_before(&s->coder[i], p.level + s->first[i], p.plane_known + s->first[i]);
    return TAPER_OK;
}

taper_status codec_strips_park(codec_strips *s) {
    if (!s->n || !codec_strips_have_levels(s)) return TAPER_OK;
    if (!s->parked.memory) TAPER_TRY(pack(s));
    codec_strips_give(s);
    return TAPER_OK;
}

/* --- waking ---------------------------------------------------------------------------- */

static packed find_packed(const codec_strips *s) {
    formats_layout at = {.memory = s->parked.memory};
    packed p;
    lay_out(&p, s, 0, &at);
    return p;
}

static void unpack_levels(const codec_strips *s) {
    const uint8_t *from = find_packed(s).rows;
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_group *g = &s->coder[i].group;
        for (size_t u = 0, at = 0; u < g->tables->units; u++, at += g->stride) {
            from += codec_unpack_row(from, 2, g->n, g->level + at);
            from += codec_unpack_row(from, 1, g->n, g->plane_known + at);
        }
    }
}

static void unpack_seen(const codec_strips *s) {
    const uint8_t *from = find_packed(s).rows + s->coding_at;
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_chunk_coder *c = &s->coder[i];
        const codec_conditional_state *state = &c->contexts.conditional;
        if (!codec_conditional_is_needed(state, &c->group)) continue;
        for (size_t u = 0; u < state->model->own; u++)
            from += codec_unpack_row(from, 1, c->group.n, state->seen + u * c->group.n);
    }
}

static void resume_strip(void *context, size_t i) {
    const codec_strips *s = context;
    const packed p = find_packed(s);
    codec_chunk_coder *c = &s->coder[i];
    int16_t *level = p.level + s->first[i];
    if (has_begun(c)) go_back(c, level, p.plane_known + s->first[i]);
    codec_group_make_norms(&c->group);
    codec_conditional_resume(&c->contexts.conditional, &c->group, c->contexts.pool);
    if (has_begun(c)) decode_again(c, level);
}

taper_status codec_strips_wake(codec_strips *s, int for_coding) {
    const int had_levels = codec_strips_have_levels(s);
    if (!s->n || (had_levels && !s->parked.memory)) return TAPER_OK;
    for_coding &= s->coding_at > 0;
    if (had_levels && !for_coding) return TAPER_OK;
    TAPER_TRY(codec_strips_take(s, for_coding));
    if (!had_levels) unpack_levels(s);
    if (!for_coding) return TAPER_OK;
    unpack_seen(s);
    if (s->n == 1) s->coder->contexts.pool = s->pool;
    codec_pool_run(s->pool, resume_strip, s, s->n);
    formats_block_free(&s->parked);
    s->coding_at = 0;
    return TAPER_OK;
}

/* --- memory ---------------------------------------------------------------------------- */

uint64_t codec_strips_held(const codec_strips *s) {
    const codec_group_blocks *b = &s->blocks;
    return b->core.bytes + b->levels.bytes + b->coding.bytes + b->unset.bytes + s->parked.bytes;
}

uint64_t codec_strips_missing(const codec_strips *s) {
    if (!s->n || (codec_strips_have_levels(s) && !s->parked.memory)) return 0;
    const codec_group_blocks *b = &s->blocks;
    return codec_strips_bytes(s->coder->group.tables, &s->shape) - b->core.bytes - b->levels.bytes;
}
