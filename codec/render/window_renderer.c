/* window_renderer.c -- see window_renderer.h. */
#include "codec/render/window_renderer.h"
#include "codec/backend/int8_dot.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/head.h"
#include "codec/bitplane/quantiser.h"
#include "codec/transform/picture.h"

enum {
    BATCH = CODEC_TERMS_WINDOWS,
    BLOCK = CODEC_SPARSE_BLOCK,
    COARSE_BITS = CODEC_TERMS_COARSE_BITS
};

/* --- a renderer ----------------------------------------------------------------------------- */

static taper_status find_synthesis(codec_window_renderer *r) {
    const codec_synthesis *s = &r->model->synthesis;
    if (!codec_model_is_linear(r->model)) return TAPER_OK;
    r->synthesis = s->weight ? s : &r->own;
    return s->weight ? TAPER_OK : codec_model_make_synthesis(r->model, &r->own);
}

/* Prepare the head, if there is one, for the synthesis and its rows. */
static taper_status begin_head(codec_window_renderer *r, uint32_t first, uint32_t n,
                               const codec_window_renderer *like) {
    if (!r->synthesis || !r->has_head) return TAPER_OK;
    return codec_head_rows_begin(&r->head, r->group, r->synthesis, &r->rows, first, n,
                                 like && like->has_head ? &like->head : NULL);
}

taper_status codec_window_renderer_begin(codec_window_renderer *r, const taper_model *model,
                                         const codec_group *group, uint32_t first, uint32_t n,
                                         int with_head, const codec_window_renderer *like) {
    memset(r, 0, sizeof *r);
    r->model = model, r->group = group;
    r->units = codec_group_units_known(group);
    taper_status status = find_synthesis(r);
    if (r->synthesis) r->rows = (codec_term_rows){r->synthesis->units, NULL, r->synthesis->bits};
    r->has_head = with_head && codec_group_has_head(group);
    if (status == TAPER_OK) status = begin_head(r, first, n, like);
    if (status != TAPER_OK) codec_window_renderer_end(r);
    return status;
}

taper_status codec_window_renderer_begin_small(codec_window_renderer *r, const taper_model *model,
                                               const codec_group *group, uint32_t first, uint32_t n,
                                               const codec_small_basis *basis,
                                               const codec_window_renderer *like) {
    memset(r, 0, sizeof *r);
    r->model = model, r->group = group, r->synthesis = &basis->rows;
    r->rows = (codec_term_rows){basis->rows.units, basis->unit, basis->rows.bits};
    r->has_head = codec_group_has_head(group);
    taper_status status = begin_head(r, first, n, like);
    if (status != TAPER_OK) codec_window_renderer_end(r);
    return status;
}

void codec_window_renderer_end(codec_window_renderer *r) {
    codec_synthesis_free(&r->own);
    codec_head_rows_end(&r->head);
    r->synthesis = NULL;
}

/* --- linear models -------------------------------------------------------------------------- */

/* The lists of a batch. */
typedef struct batch {
    codec_terms terms;
    uint8_t *h2;      /* [BATCH][hidden] */
    uint8_t *quads;   /* the same as a matrix of BATCH lanes */
    codec_term *head; /* [BATCH][hidden / 2], and room for the head's inputs before */
    uint32_t n_head[BATCH], hidden;
    formats_block block;
} batch;

static uint32_t head_terms(const codec_conditional *head) {
    uint32_t inputs = codec_head_rows_inputs(head), each = head->hidden / 2;
    return BATCH * each > inputs ? BATCH * each : inputs;
}

/* rows: of the synthesis. head: NULL: none. */
static void lay_out(batch *b, uint32_t rows, const codec_conditional *head, formats_layout *at) {
    b->hidden = head ? head->hidden : 0;
    codec_terms_lay_out(&b->terms, rows, at);
    b->h2 = formats_lay(at, BATCH * (uint64_t)b->hidden, 1);
    b->quads = formats_lay(at, BATCH * (uint64_t)b->hidden, 1);
    b->head = formats_lay(at, head ? head_terms(head) : 0, sizeof *b->head);
}

static taper_status alloc_batch(const codec_window_renderer *r, batch *b) {
    const codec_conditional *head = r->has_head ? r->head.head : NULL;
    formats_layout at = {0};
    lay_out(b, r->synthesis->units, head, &at);
    TAPER_TRY(formats_block_take_unset(&b->block, &at, NULL));
    lay_out(b, r->synthesis->units, head, &at);
    memset(b->quads, 0, BATCH * (size_t)b->hidden);
    return TAPER_OK;
}

typedef struct differences {
    const codec_window_renderer *renderer;
    const batch *batch;
} differences;

static void difference(const void *context, uint32_t u, int32_t more[BATCH]) {
    const differences *d = context;
    codec_head_rows_more(&d->renderer->head, u, d->batch->quads, more);
}

/* The activations that are not 0, in pairs. */
static void list_head(batch *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *h2 = b->h2 + (size_t)i * b->hidden;
        codec_term *to = b->head + (size_t)i * b->hidden / 2;
        b->n_head[i] = 0;
        for (uint32_t k = 0; k < b->hidden; k += 4)
            memcpy(b->quads + codec_quad_at(BATCH, k, i), h2 + k, 4);
        for (uint32_t k = 0; k < b->hidden / 2; k++)
            if (h2[2 * k] || h2[2 * k + 1])
                to[b->n_head[i]++] = (codec_term){k, {h2[2 * k], h2[2 * k + 1]}};
    }
}

static void list_batch(const codec_window_renderer *r, batch *b, uint32_t first, uint32_t n) {
    const differences d = {r, b};
    if (r->has_head) {
        codec_head_rows_hidden(&r->head, first, n, b->head, b->h2);
        list_head(b, n);
    }
    codec_terms_list(r->group, &r->rows, first, n, r->has_head ? difference : NULL, &d, &b->terms);
}

CODEC_CLONES static void shift_left(int32_t *sum, uint32_t n, int by) {
    for (uint32_t i = 0; i < n; i++) sum[i] = (int32_t)((uint32_t)sum[i] << by);
}

/* sum = (sum << by) + mean. */
CODEC_CLONES static void add_mean(int32_t *restrict sum, const int32_t *restrict mean, uint32_t n,
                                  int by) {
    for (uint32_t i = 0; i < n; i++)
        sum[i] = (int32_t)(((uint32_t)sum[i] << by) + (uint32_t)mean[i]);
}

/* The sums of window i of the batch in `count` lanes from `lane` on. Coarse terms come first, then
 * the head's; the sums are shifted in between. */
static void sum_lanes(const codec_window_renderer *r, const batch *b, uint32_t i, uint32_t lane,
                      uint32_t count, int32_t *sum) {
    const codec_synthesis *s = r->synthesis;
    const codec_terms *t = &b->terms;
    size_t at = (size_t)i * t->capacity;
    int shift = r->has_head ? r->head.shift : 0;
    memset(sum, 0, count * sizeof *sum);
    if (t->n_coarse[i]) {
        codec_sparse_sum(s->weight, s->lanes, lane, count, t->coarse + at, t->n_coarse[i], sum);
        shift_left(sum, count, COARSE_BITS - shift);
    }
    if (r->has_head && r->head.row)
        codec_sparse_sum(r->head.row, s->lanes, lane, count, b->head + (size_t)i * b->hidden / 2,
                         b->n_head[i], sum);
    add_mean(sum, s->mean + lane, count, shift);
    codec_sparse_sum(s->weight, s->lanes, lane, count, t->fine + at, t->n_fine[i], sum);
}

static void run_batch(const codec_window_renderer *r, const batch *b, uint32_t n, int16_t *value) {
    const codec_synthesis *s = r->synthesis;
    for (uint32_t lane = 0, count; lane < s->lanes; lane += count) {
        count = s->lanes - lane < BLOCK ? s->lanes - lane : BLOCK;
        uint32_t there = s->inputs - lane < count ? s->inputs - lane : count;
        for (uint32_t i = 0; i < n; i++) {
            int32_t sum[BLOCK];
            sum_lanes(r, b, i, lane, count, sum);
            codec_synthesis_values(sum, there, value + (size_t)i * s->inputs + lane);
        }
    }
}

static taper_status run_linear(const codec_window_renderer *r, uint32_t first, uint32_t n,
                               int16_t *value) {
    batch b;
    TAPER_TRY(alloc_batch(r, &b));
    for (uint32_t at = 0, more; at < n; at += more) {
        more = n - at < BATCH ? n - at : BATCH;
        list_batch(r, &b, first + at, more);
        run_batch(r, &b, more, value + (size_t)at * r->synthesis->inputs);
    }
    formats_block_free(&b.block);
    return TAPER_OK;
}

taper_status codec_window_renderer_sums(const codec_window_renderer *r, uint32_t first, uint32_t n,
                                        int32_t *sum) {
    const uint32_t lanes = r->synthesis->lanes;
    batch b;
    TAPER_TRY(alloc_batch(r, &b));
    list_batch(r, &b, first, n);
    for (uint32_t lane = 0, count; lane < lanes; lane += count) {
        count = lanes - lane < BLOCK ? lanes - lane : BLOCK;
        for (uint32_t i = 0; i < n; i++)
            sum_lanes(r, &b, i, lane, count, sum + (size_t)i * lanes + lane);
    }
    formats_block_free(&b.block);
    return TAPER_OK;
}

/* --- other models --------------------------------------------------------------------------- */

/* The number of windows, of n from `first` on, that have the last known unit of a binary model. */
static uint32_t whole_windows(const codec_group *group, uint32_t first, uint32_t n) {
    uint32_t known = codec_group_last_known(group);
    return known <= first ? 0 : known - first < n ? known - first : n;
}

/* Codes and pixels of a block of n windows at most. */
typedef struct rows {
    float *code, *pixels;
} rows;

static void lay_out_rows(rows *r, const codec_network *net, uint64_t n, formats_layout *at) {
    n = n < CODEC_ROWS_AT_ONCE ? n : CODEC_ROWS_AT_ONCE;
    r->code = formats_lay(at, n * net->units, sizeof *r->code);
    r->pixels = formats_lay(at, n * net->inputs, sizeof *r->pixels);
}

static taper_status run_network(const codec_window_renderer *r, codec_backend *be, uint32_t first,
                                uint32_t n, int16_t *value) {
    const codec_network *net = &r->model->network;
    formats_layout layout = {0};
    formats_block block;
    rows b;
    lay_out_rows(&b, net, n, &layout);
    TAPER_TRY(formats_block_take_unset(&block, &layout, NULL));
    lay_out_rows(&b, net, n, &layout);
    taper_status status = TAPER_OK;
    for (uint32_t at = 0, more; at < n && status == TAPER_OK; at += more, first += more) {
        more = n - at < CODEC_ROWS_AT_ONCE ? n - at : CODEC_ROWS_AT_ONCE;
        (r->has_head ? codec_head_dequantise : codec_dequantise)(r->group, first, more, b.code);
        status = codec_network_decode_cut(net, be, b.code, more, r->units,
                                          whole_windows(r->group, first, more), b.pixels);
        if (status == TAPER_OK)
            codec_picture_values(b.pixels, (size_t)more * net->inputs,
                                 value + (size_t)at * net->inputs);
    }
    formats_block_free(&block);
    return status;
}

taper_status codec_window_renderer_run(const codec_window_renderer *r, codec_backend *be,
                                       uint32_t first, uint32_t n, int16_t *value) {
    return r->synthesis ? run_linear(r, first, n, value) : run_network(r, be, first, n, value);
}

/* --- memory --------------------------------------------------------------------------------- */

uint64_t codec_window_renderer_bytes(const taper_model *m, uint64_t n, uint64_t columns) {
    const codec_conditional *head = m->tables.head;
    uint32_t lanes = codec_sparse_lanes(m->network.inputs);
    if (!codec_model_is_linear(m) || !head) return 0;
    return codec_head_rows_bytes(head, m->network.units, lanes, n, columns);
}

uint64_t codec_window_renderer_run_bytes(const taper_model *m, uint64_t n) {
    formats_layout at = {0};
    batch b;
    rows r;
    if (codec_model_is_linear(m)) {
        lay_out(&b, m->network.units, m->tables.head, &at);
        return at.used;
    }
    lay_out_rows(&r, &m->network, n, &at);
    return at.used + codec_network_scratch_bytes(&m->network);
}
