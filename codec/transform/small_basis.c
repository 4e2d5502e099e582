/* small_basis.c -- see small_basis.h. */
#include "codec/transform/small_basis.h"
#include "codec/backend/simd.h"
#include "codec/transform/lap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AXIS_BITS = 13, /* of A */
    FIRST_SHIFT = 12,
    SECOND_SHIFT = 2 * AXIS_BITS - FIRST_SHIFT,
    MEAN_BITS = 12 /* of the lower part of a mean */
};

int codec_small_basis_fits(codec_window w, uint32_t scale) {
    return w.width % scale == 0 && w.height % scale == 0;
}

/* R in pixels. */
static uint32_t reach_of(codec_window w, uint32_t scale) {
    return w.lap ? (w.lap->reach + scale - 1) / scale * scale : 0;
}

/* --- one axis ------------------------------------------------------------------------------- */

/* An axis of the window. */
typedef struct axis {
    uint32_t side, out; /* pixels; small pixels with those around */
    int32_t *weight;    /* [side][out] A */
} axis;

/* What pixel i gives to the small pixels, in 1 / (2 CODEC_LAP_ONE) of a pixel. */
static void gather(const codec_lap *lap, uint32_t side, uint32_t scale, uint32_t reach, uint32_t i,
                   int32_t *sum) {
    sum[(i + reach) / scale] += 2 * CODEC_LAP_ONE;
    for (uint32_t k = 0; lap && k < lap->reach; k++) {
        int at_start = i < lap->reach, at_end = side - 1 - i < lap->reach;
        uint32_t j = at_start ? i : side - 1 - i; /* its distance from the edge */
        if (!at_start && !at_end) return;
        int32_t mixed = lap->stored[k * lap->reach + j] - (k == j ? CODEC_LAP_ONE : 0);
        uint32_t inside = at_start ? k : side - 1 - k;
        sum[(inside + reach) / scale] += mixed;
        sum[(at_start ? reach - 1 - k : reach + side + k) / scale] -= mixed;
    }
}

static void fill_axis(const codec_lap *lap, uint32_t scale, uint32_t reach, const axis *a) {
    for (uint32_t i = 0; i < a->side; i++) {
        int32_t *sum = a->weight + (size_t)i * a->out;
        gather(lap, a->side, scale, reach, i, sum);
        for (uint32_t o = 0; o < a->out; o++)
            sum[o] = (sum[o] + (int32_t)scale / 2) >> (31 - __builtin_clz(scale));
    }
}

/* --- pairs of rows -------------------------------------------------------------------------- */

/* Two rows are made at once, as the synthesis stores them. */
typedef struct maker {
    axis across, down;
    uint32_t channels, small; /* small: values of a small row */
    uint32_t column;          /* of two small rows: [down.out][channels][2] */
    int32_t *line;            /* [across.side][2] */
    int32_t *half;            /* [across.side][column] T */
    int32_t *to;              /* [across.out][column] */
    int16_t *pair;            /* [values][2], of the window or of small rows */
    formats_block block;
} maker;

static void lay_out_maker(maker *m, codec_window w, uint32_t scale, formats_layout *at) {
    const uint32_t around = 2 * reach_of(w, scale);
    m->channels = w.channels;
    m->across = (axis){w.width, (w.width + around) / scale, NULL};
    m->down = (axis){w.height, (w.height + around) / scale, NULL};
    m->column = m->down.out * w.channels * 2;
    m->small = m->across.out * m->column / 2;
    const uint64_t values = codec_window_values(w), most = values > m->small ? values : m->small;
    m->across.weight = formats_lay(at, w.width, m->across.out * sizeof *m->across.weight);
    m->down.weight = formats_lay(at, w.height, m->down.out * sizeof *m->down.weight);
    m->line = formats_lay(at, w.width, 2 * sizeof *m->line);
    m->half = formats_lay(at, w.width, m->column * sizeof *m->half);
    m->to = formats_lay(at, m->small, 2 * sizeof *m->to);
    m->pair = formats_lay(at, most, 2 * sizeof *m->pair);
}

static taper_status begin(codec_window w, uint32_t scale, maker *m) {
    const uint32_t reach = reach_of(w, scale);
    formats_layout at = {0};
    lay_out_maker(m, w, scale, &at);
    TAPER_TRY(formats_block_take(&m->block, &at, NULL));
    lay_out_maker(m, w, scale, &at);
    fill_axis(w.lap, scale, reach, &m->across);
    fill_axis(w.lap, scale, reach, &m->down);
    return TAPER_OK;
}

CODEC_INLINE int32_t clamp16(int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }

CODEC_INLINE int32_t round_shift(int32_t x, int shift) {
    return (int32_t)((uint32_t)x + (1u << (shift - 1))) >> shift;
}

/* T of one small line of one channel: `from` is [down->side][2 width]. */
CODEC_CLONES static void shrink_down(const axis *down, const int16_t *restrict from, uint32_t width,
                                     uint32_t o, int32_t *restrict line) {
    memset(line, 0, 2 * (size_t)width * sizeof *line);
    for (uint32_t y = 0; y < down->side; y++, from += 2 * (size_t)width) {
        int32_t weight = down->weight[(size_t)y * down->out + o];
        for (uint32_t i = 0; weight && i < 2 * width; i++)
            line[i] = (int32_t)((uint32_t)line[i] + (uint32_t)weight * (uint32_t)from[i]);
    }
    for (uint32_t i = 0; i < 2 * width; i++) line[i] = round_shift(line[i], FIRST_SHIFT);
}

/* The columns of T to small columns of n values. */
CODEC_CLONES static void shrink_across(const axis *across, const int32_t *restrict half, uint32_t n,
                                       int32_t *restrict to) {
    memset(to, 0, (size_t)across->out * n * sizeof *to);
    for (uint32_t x = 0; x < across->side; x++, half += n)
        for (uint32_t o = 0; o < across->out; o++) {
            uint32_t weight = (uint32_t)across->weight[(size_t)x * across->out + o];
            int32_t *sum = to + (size_t)o * n;
            for (uint32_t i = 0; weight && i < n; i++)
                sum[i] = (int32_t)((uint32_t)sum[i] + weight * (uint32_t)half[i]);
        }
    for (size_t i = 0; i < (size_t)across->out * n; i++)
        to[i] = clamp16(round_shift(to[i], SECOND_SHIFT));
}

/* Two rows, pair[values][2], to m->to. */
static void shrink(const maker *m, const int16_t *pair) {
    uint32_t width = m->across.side;
    size_t plane = 2 * (size_t)width * m->down.side;
    for (uint32_t c = 0; c < m->channels; c++)
        for (uint32_t o = 0; o < m->down.out; o++) {
            int32_t *to = m->half + (o * (size_t)m->channels + c) * 2;
            shrink_down(&m->down, pair + c * plane, width, o, m->line);
            for (uint32_t x = 0; x < width; x++, to += m->column)
                to[0] = m->line[2 * x], to[1] = m->line[2 * x + 1];
        }
    shrink_across(&m->across, m->half, m->column, m->to);
}

/* Copy one of the two rows of m->to, in the order of small rows: row[2 i]. */
static void copy_row(const maker *m, uint32_t which, int16_t *row) {
    for (uint32_t c = 0; c < m->channels; c++)
        for (uint32_t o = 0; o < m->down.out; o++) {
            const int32_t *from = m->to + (o * (size_t)m->channels + c) * 2 + which;
            for (uint32_t x = 0; x < m->across.out; x++, from += m->column, row += 2)
                *row = (int16_t)*from;
        }
}

/* --- all rows ------------------------------------------------------------------------------- */

/* Set some[k] if row k of two has a value that is not 0. */
CODEC_CLONES static void find_some(const int32_t *x, uint32_t n, int32_t some[2]) {
    int32_t first = 0, second = 0;
    for (uint32_t i = 0; i < n; i++) first |= x[2 * (size_t)i], second |= x[2 * (size_t)i + 1];
    some[0] = first, some[1] = second;
}

/* Set the rows and units that stay, at least one. There is room for all. */
static void fill_rows(const maker *m, const codec_synthesis *s, const uint8_t *kept,
                      codec_small_basis *b) {
    codec_synthesis *r = &b->rows;
    int32_t some[2];
    for (uint32_t u = 0; u < s->units; u++) {
        const int16_t *pair = s->weight + codec_sparse_at(s->lanes, u, 0);
        if (u % 2 == 0) {
            if (u >= s->known)
                memset(m->to, 0, 2 * (size_t)m->small * sizeof *m->to);
            else
                shrink(m, pair);
            find_some(m->to, m->small, some);
        }
        int stays = some[u % 2] && (!kept || kept[u]), needed = u + 1 == s->units && !r->units;
        if (!stays && !needed) continue;
        copy_row(m, u % 2, r->weight + codec_sparse_at(r->lanes, r->units, 0));
        b->unit[r->units++] = u;
    }
    memcpy(r->bits, s->bits, s->units * sizeof *r->bits);
}

/* The mean is made in two parts of 16 bits. */
static void fill_mean(const maker *m, const codec_synthesis *s, codec_small_basis *b) {
    int16_t *pair = m->pair;
    enum { ONE = 1 << MEAN_BITS };
    for (uint32_t i = 0; i < s->inputs; i++) {
        pair[2 * (size_t)i] = (int16_t)clamp16(s->mean[i] >> MEAN_BITS);
        pair[2 * (size_t)i + 1] = (int16_t)(s->mean[i] & (ONE - 1));
    }
    shrink(m, pair);
    copy_row(m, 0, pair);
    for (uint32_t i = 0; i < m->small; i++) b->rows.mean[i] = pair[2 * (size_t)i] * ONE;
    copy_row(m, 1, pair);
    for (uint32_t i = 0; i < m->small; i++) b->rows.mean[i] += pair[2 * (size_t)i];
}

static size_t weights_of(uint32_t units, uint32_t lanes) {
    return (size_t)(units + 1) / 2 * lanes * 2;
}

/* Lay out `kept` rows, the largest array, at the end. */
static void lay_out(codec_small_basis *b, uint32_t kept, formats_layout *at) {
    codec_synthesis *r = &b->rows;
    r->bits = formats_lay(at, b->units, sizeof *r->bits);
    r->mean = formats_lay(at, r->lanes, sizeof *r->mean);
    b->unit = formats_lay(at, b->units, sizeof *b->unit);
    r->weight = formats_lay(at, weights_of(kept, r->lanes), sizeof *r->weight);
}

/* Give back the memory of the rows that do not stay. */
static void trim(codec_small_basis *b) {
    codec_small_basis counted = *b;
    formats_layout at = {0};
    lay_out(&counted, b->rows.units, &at);
    void *memory = realloc(b->block.memory, (size_t)at.used);
    if (!memory) return;
    b->block = (formats_block){memory, at.used, NULL};
    at = (formats_layout){.memory = memory};
    lay_out(b, b->rows.units, &at);
}

codec_small_basis codec_small_basis_shape(codec_window w, uint32_t scale, uint32_t units) {
    const uint32_t reach = reach_of(w, scale) / scale, width = w.width / scale,
                   height = w.height / scale,
                   small = (width + 2 * reach) * (height + 2 * reach) * w.channels;
    return (codec_small_basis){.scale = scale,
                               .window = {width, height, w.channels, NULL},
                               .reach = reach,
                               .units = units,
                               .rows = {.inputs = small, .lanes = codec_sparse_lanes(small)}};
}

taper_status codec_small_basis_make(const codec_synthesis *s, codec_window w, uint32_t scale,
                                    const uint8_t *kept, codec_small_basis *out) {
    codec_small_basis b = codec_small_basis_shape(w, scale, s->units);
    formats_layout at = {0};
    maker m;
    *out = (codec_small_basis){0};
    TAPER_TRY(begin(w, scale, &m));
    lay_out(&b, s->units, &at);
    taper_status status = formats_block_take(&b.block, &at, NULL);
    if (status == TAPER_OK) {
        lay_out(&b, s->units, &at);
        fill_rows(&m, s, kept, &b);
        fill_mean(&m, s, &b);
        trim(&b);
        *out = b;
    }
    formats_block_free(&m.block);
    return status;
}

void codec_small_basis_free(codec_small_basis *b) {
    formats_block_free(&b->block);
    *b = (codec_small_basis){0};
}

uint64_t codec_small_basis_bytes(const codec_small_basis *b) { return b->block.bytes; }

uint64_t codec_small_basis_most_bytes(uint32_t units, codec_window w, uint32_t scale) {
    codec_small_basis b = codec_small_basis_shape(w, scale, units);
    formats_layout at = {0};
    maker m;
    lay_out(&b, units, &at);
    lay_out_maker(&m, w, scale, &at);
    return at.used;
}
