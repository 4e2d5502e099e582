/* restoration_filter.c -- applying a restoration network; see restoration.h. The picture is divided
 * into bands of rows of patches, which are processed from top to bottom. After each row of the
 * picture, every layer computes the row that has become possible, so three rows per layer are kept.
 */
#include "codec/backend/simd.h"
#include "codec/transform/restoration.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATCH = CODEC_RESTORATION_PATCH,
    MOST_HIDDEN = CODEC_RESTORATION_MOST_HIDDEN,
    MOST_LAYERS = CODEC_RESTORATION_MOST_LAYERS,
    ACTIVATION_MAX = CODEC_RESTORATION_ACTIVATION_MAX,
    LEAST_BAND = 16, /* rows of patches of a band, at least */
    KEPT = 3         /* rows of each layer's input */
};

/* The first layer's bias[hidden] and the gain after this number of complete passes. */
static void state_at(const codec_restoration *r, uint32_t pass, int32_t *bias, int32_t *gain) {
    uint32_t s = 0;
    while (s + 1 < r->stages && r->at[s + 1] <= pass) s++;
    uint32_t next = s + 1 < r->stages ? s + 1 : s;
    int32_t part =
        next == s ? 0 : (int32_t)((uint64_t)256 * (pass - r->at[s]) / (r->at[next] - r->at[s]));
    const int32_t *from = r->stage + (size_t)s * r->hidden,
                  *to = r->stage + (size_t)next * r->hidden;
    for (uint32_t h = 0; h < r->hidden; h++) bias[h] = from[h] + ((to[h] - from[h]) * part >> 8);
    *gain = r->gain[s] + ((r->gain[next] - r->gain[s]) * part >> 8);
}

/* --- windows as rows of patches --------------------------------------------------------- */

typedef struct picture {
    codec_window window;
    codec_grid grid;
    uint32_t rows, columns; /* in patches */
    uint32_t values;        /* numbers of a patch: [y][x][channel] */
    float *windows;
} picture;

/* The address of number k of the first patch of a window in a row of patches. That of the next
 * patch is PATCH floats further. */
static float *first_at(const picture *p, uint32_t row, uint32_t column, uint32_t k) {
    codec_window w = p->window;
    uint32_t y = row * PATCH % w.height + k / w.channels / PATCH, x = k / w.channels % PATCH,
             channel = k % w.channels;
    size_t window = (size_t)(row * PATCH / w.height) * p->grid.columns + column;
    return p->windows + (window * w.channels + channel) * w.width * w.height + y * w.width + x;
}

static int16_t input_of(float y) {
    const float most = CODEC_RESTORATION_PIXEL_MAX;
    float a = (y - 128.0f) * CODEC_RESTORATION_PIXEL_ONE + 0.5f;
    a = a > -most - 1 ? a : -most - 1; /* also for NaN */
    a = a < most ? a : most;
    /* floor(a): the sum is not negative, and exact in float. */
    return (int16_t)((int32_t)(a + most + 1) - CODEC_RESTORATION_PIXEL_MAX - 1);
}

CODEC_CLONES static void read_row(const picture *p, uint32_t row, int16_t *to) {
    uint32_t patches = p->window.width / PATCH, values = p->values;
    for (uint32_t column = 0; column < p->grid.columns; column++, to += patches * values)
        for (uint32_t k = 0; k < values; k++) {
            const float *from = first_at(p, row, column, k);
            for (uint32_t i = 0; i < patches; i++) to[i * values + k] = input_of(from[i * PATCH]);
        }
}

/* Add a row of z(layers) to the picture. */
CODEC_CLONES static void add_row(const picture *p, uint32_t row, const int32_t *z, float gain) {
    uint32_t patches = p->window.width / PATCH, values = p->values;
    for (uint32_t column = 0; column < p->grid.columns; column++, z += patches * values)
        for (uint32_t k = 0; k < values; k++) {
            float *to = first_at(p, row, column, k);
            for (uint32_t i = 0; i < patches; i++) to[i * PATCH] += (float)z[i * values + k] * gain;
        }
}

/* --- layers ----------------------------------------------------------------------------- */

/* Replace h by that of the next layer, and compute its activations. */
CODEC_CLONES static void activate(const int32_t *restrict z, size_t n, int16_t *restrict h,
                                  int16_t *restrict to) {
    for (size_t i = 0; i < n; i++) {
        int32_t sum = h[i] + ((z[i] + 4) >> 3);
        sum = sum > -ACTIVATION_MAX ? sum : -ACTIVATION_MAX;
        sum = sum < ACTIVATION_MAX ? sum : ACTIVATION_MAX;
        h[i] = (int16_t)sum;
        to[i] = (int16_t)(sum > 0 ? sum : 0);
    }
}

/* --- bands ------------------------------------------------------------------------------ */

typedef struct task {
    const codec_restoration *net;
    picture picture;
    uint32_t band_rows; /* rows of a band; the last may have fewer */
    int16_t *patches;   /* [rows][columns][values] */
    int32_t bias[MOST_HIDDEN];
    float gain;
    atomic_int failed;
} task;

/* The current rows of a band's layers, in one allocation. Rows of `row` and `nothing` have a patch
 * of zeros at either end. */
typedef struct band {
    int16_t *memory;
    int16_t *row[MOST_LAYERS][KEPT]; /* the input a of each layer */
    int16_t *h[MOST_LAYERS];         /* a row is replaced after all layers have used it */
    int16_t *nothing;                /* zeros: a row outside the picture */
    int32_t *z;                      /* z of the current row */
} band;

/* Two bands per thread, to balance the load. More bands cost time: both neighbours of an edge
 * compute some rows of the middle layers. */
static uint32_t rows_of_band(uint32_t rows, unsigned threads) {
    const uint32_t bands = threads > 1 ? 2 * threads : 1, least = LEAST_BAND;
    uint32_t each = (rows - 1) / bands + 1;
    return each < least ? least : each;
}

static size_t row_size(const codec_restoration *r, size_t columns) {
    uint32_t values = codec_restoration_values(r->channels);
    return (columns + 2) * (r->hidden > values ? r->hidden : values);
}

static size_t rows_of(const codec_restoration *r) { return r->layers * (KEPT + 1) + 1; }

uint64_t codec_restoration_bytes(const codec_restoration *r, codec_window w, codec_grid grid,
                                 unsigned threads) {
    uint64_t rows = (uint64_t)grid.rows * (w.height / PATCH),
             columns = (uint64_t)grid.columns * (w.width / PATCH),
             bands = (rows - 1) / LEAST_BAND + 1;
    uint64_t each = row_size(r, columns) * (rows_of(r) * sizeof(int16_t) + sizeof(int32_t));
    return rows * columns * codec_restoration_values(w.channels) * sizeof(int16_t) +
           each * (bands < threads ? bands : threads);
}

static int open_band(const task *t, band *b) {
    uint32_t layers = t->net->layers;
    size_t row = row_size(t->net, t->picture.columns);
    b->memory = calloc(rows_of(t->net), row * sizeof *b->memory);
    b->z = malloc(row * sizeof *b->z);
    if (!b->memory || !b->z) return 0;
    int16_t *at = b->memory;
    for (uint32_t l = 0; l < layers; l++, at += row) {
        for (int i = 0; i < KEPT; i++, at += row) b->row[l][i] = at;
        b->h[l] = at;
    }
    b->nothing = at;
    return 1;
}

static void close_band(band *b) { free(b->memory), free(b->z); }

/* Row y, within the picture, of the input of a layer. */
static int16_t *kept_row(const band *b, uint32_t layer, int64_t y) {
    return b->row[layer][(uint64_t)y % KEPT];
}

static const int16_t *input_row(const task *t, const band *b, uint32_t layer, int64_t y) {
    return y < 0 || y >= t->picture.rows ? b->nothing : kept_row(b, layer, y);
}

/* Compute row y, within the picture, of layer l. */
static void make_row(const task *t, const band *b, uint32_t l, int64_t y) {
    const codec_convolution *c = &t->net->layer[l];
    const int16_t *in[3];
    for (int i = 0; i < 3; i++) in[i] = input_row(t, b, l, y + i - 1);
    codec_convolve_row(c, in, t->picture.columns, l ? c->bias : t->bias, b->z);
    if (l + 1 == t->net->layers) {
        add_row(&t->picture, (uint32_t)y, b->z, t->gain);
        return;
    }
    size_t n = (size_t)t->picture.columns * c->outputs;
    int16_t *h = b->h[(uint64_t)y % t->net->layers];
    if (!l) memset(h, 0, n * sizeof *h);
    activate(b->z, n, h, kept_row(b, l + 1, y) + c->outputs);
}

static void read_band(void *context, size_t number) {
    const task *t = context;
    const picture *p = &t->picture;
    uint64_t first = (uint64_t)number * t->band_rows, end = first + t->band_rows;
    for (uint64_t y = first; y < end && y < p->rows; y++)
        read_row(p, (uint32_t)y, t->patches + y * p->columns * p->values);
}

static void restore_band(void *context, size_t number) {
    task *t = context;
    band b;
    uint32_t layers = t->net->layers, values = t->picture.values;
    int64_t first = (int64_t)number * t->band_rows, end = first + t->band_rows,
            rows = t->picture.rows;
    if (end > rows) end = rows;
    if (!open_band(t, &b)) {
        close_band(&b);
        t->failed = 1;
        return;
    }
    for (int64_t y = first - layers; y < end + layers; y++) {
        if (y >= 0 && y < rows)
            memcpy(kept_row(&b, 0, y) + values,
                   t->patches + (size_t)y * t->picture.columns * values,
                   (size_t)t->picture.columns * values * sizeof *t->patches);
        for (uint32_t l = 0; l < layers; l++) {
            int64_t made = y - 1 - l, reach = layers - 1 - l;
            if (made >= 0 && made < rows && made >= first - reach && made < end + reach)
                make_row(t, &b, l, made);
        }
    }
    close_band(&b);
}

taper_status codec_restoration_apply(const codec_restoration *r, uint32_t pass, codec_window w,
                                     codec_grid grid, codec_pool *pool, float *windows) {
    task t = {.net = r,
              .picture = {.window = w,
                          .grid = grid,
                          .rows = grid.rows * (w.height / PATCH),
                          .columns = grid.columns * (w.width / PATCH),
                          .values = codec_restoration_values(w.channels),
                          .windows = windows}};
    int32_t gain;
    size_t row = (size_t)t.picture.columns * t.picture.values;
    t.patches = malloc(t.picture.rows * row * sizeof *t.patches);
    if (!t.patches) return TAPER_ERR_NOMEM;
    state_at(r, pass, t.bias, &gain);
    t.gain = (float)gain / (float)(1 << CODEC_RESTORATION_GAIN_BITS);
    t.band_rows = rows_of_band(t.picture.rows, codec_pool_threads(pool));
    uint32_t bands = (t.picture.rows - 1) / t.band_rows + 1;
    codec_pool_run(pool, read_band, &t, bands);
    codec_pool_run(pool, restore_band, &t, bands);
    free(t.patches);
    return t.failed ? TAPER_ERR_NOMEM : TAPER_OK;
}
