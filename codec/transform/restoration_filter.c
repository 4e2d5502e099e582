/* restoration_filter.c -- applying a restoration network; see restoration.h. The picture is divided
 * into bands of rows of patches, which are processed from top to bottom. After each row of the
 * picture, every layer computes the row that has become possible, so three rows per layer are kept.
 */
#include "codec/backend/simd.h"
#include "codec/transform/restoration.h"
#include "formats/layout.h"
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

/* --- pictures as rows of patches --------------------------------------------------------- */

/* The two values of a row of a patch are moved as one number of 32 bits. */
typedef struct patches {
    const codec_picture *picture;
    uint32_t rows, columns; /* of patches */
    uint32_t values;        /* numbers of a patch: [channel][y][x] */
} patches;

enum { LINES = PATCH * 3 /* rows of pixels of a row of patches, of all channels */ };

/* Row `line` of pixels of a row of patches: [channel][y]. */
static int16_t *line_at(const patches *p, uint32_t row, uint32_t line) {
    return codec_picture_row(p->picture, line / PATCH, row * PATCH + line % PATCH);
}

CODEC_CLONES static void to_inputs(const int16_t *restrict v, uint32_t n, int16_t *restrict a) {
    enum { MOST = CODEC_RESTORATION_PIXEL_MAX };
    for (uint32_t i = 0; i < n; i++) {
        int32_t x = v[i];
        a[i] = (int16_t)(x < -MOST - 1 ? -MOST - 1 : x > MOST ? MOST : x);
    }
}

/* to[i][line] = from[line][i], and back, for n pairs. */
static void gather_pairs(const int16_t *from, uint32_t n, uint32_t lines, uint32_t line,
                         int16_t *to) {
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + ((size_t)i * lines + line) * PATCH, from + (size_t)i * PATCH,
               PATCH * sizeof *to);
}
static void scatter_pairs(const int16_t *from, uint32_t n, uint32_t lines, uint32_t line,
                          int16_t *to) {
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * PATCH, from + ((size_t)i * lines + line) * PATCH,
               PATCH * sizeof *to);
}

enum { AT_ONCE = 64 /* patches */ };

/* a(0) of a row: to[columns][values]. */
static void read_row(const patches *p, uint32_t row, int16_t *to) {
    uint32_t lines = p->values / PATCH;
    int16_t a[AT_ONCE * PATCH];
    for (uint32_t line = 0; line < lines; line++) {
        const int16_t *from = line_at(p, row, line);
        for (uint32_t i = 0, n; i < p->columns; i += n) {
            n = p->columns - i < AT_ONCE ? p->columns - i : AT_ONCE;
            to_inputs(from + (size_t)i * PATCH, n * PATCH, a);
            gather_pairs(a, n, lines, line, to + (size_t)i * p->values);
        }
    }
}

/* The corrections of n values. */
CODEC_CLONES static void to_corrections(const int32_t *restrict z, size_t n, int32_t gain,
                                        int16_t *restrict to) {
    enum { MOST = CODEC_RESTORATION_Z_MAX, SHIFT = CODEC_RESTORATION_GAIN_BITS - 4 };
    for (size_t i = 0; i < n; i++) {
        int32_t c = z[i] < -MOST ? -MOST : z[i] > MOST ? MOST : z[i];
        c = (gain * c + (1 << (SHIFT - 1))) >> SHIFT;
        to[i] = (int16_t)(c < -32768 ? -32768 : c > 32767 ? 32767 : c);
    }
}

CODEC_CLONES static void add_corrections(const int16_t *restrict c, uint32_t n,
                                         int16_t *restrict v) {
    for (uint32_t i = 0; i < n; i++) {
        int32_t sum = v[i] + c[i];
        v[i] = (int16_t)(sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum);
    }
}

/* Add a row of z(layers), [columns][values], to the picture. */
static void add_row(const patches *p, uint32_t row, const int32_t *z, int32_t gain) {
    uint32_t lines = p->values / PATCH;
    int16_t correction[AT_ONCE * LINES * PATCH], of_line[AT_ONCE * PATCH];
    for (uint32_t i = 0, n; i < p->columns; i += n) {
        n = p->columns - i < AT_ONCE ? p->columns - i : AT_ONCE;
        to_corrections(z + (size_t)i * p->values, (size_t)n * p->values, gain, correction);
        for (uint32_t line = 0; line < lines; line++) {
            scatter_pairs(correction, n, lines, line, of_line);
            add_corrections(of_line, n * PATCH, line_at(p, row, line) + (size_t)i * PATCH);
        }
    }
}

/* --- layers ------------------------------------------------------------------------------ */

/* Replace h by that of the next layer, and compute its activations. */
CODEC_INLINE void activate(const int32_t *restrict z, size_t n, int is_first, int16_t *restrict h,
                           uint8_t *restrict to) {
    enum { SHIFT = CODEC_RESTORATION_BYTE_SHIFT, MOST = CODEC_RESTORATION_BYTE_MAX };
    for (size_t i = 0; i < n; i++) {
        int32_t sum = (is_first ? 0 : h[i]) + ((z[i] + 4) >> 3);
        sum = sum > -ACTIVATION_MAX ? sum : -ACTIVATION_MAX;
        sum = sum < ACTIVATION_MAX ? sum : ACTIVATION_MAX;
        h[i] = (int16_t)sum;
        int32_t a = ((sum > 0 ? sum : 0) + (1 << (SHIFT - 1))) >> SHIFT;
        to[i] = (uint8_t)(a < MOST ? a : MOST);
    }
}

CODEC_CLONES static void activate_first(const int32_t *z, size_t n, int16_t *h, uint8_t *to) {
    activate(z, n, 1, h, to);
}
CODEC_CLONES static void activate_next(const int32_t *z, size_t n, int16_t *h, uint8_t *to) {
    activate(z, n, 0, h, to);
}

/* --- bands ------------------------------------------------------------------------------- */

typedef struct task {
    const codec_restoration *net;
    patches patches;
    uint32_t band_rows; /* rows of a band; the last may have fewer */
    /* a(0) of the rows on either side of each edge between two bands, which both bands read:
     * [edges][2 layers][columns][values]. */
    int16_t *edge_rows;
    int32_t bias[MOST_HIDDEN], gain;
    atomic_int failed;
} task;

/* The current rows of a band's layers, in one allocation. Rows of `pixels`, `bytes` and `nothing`
 * have a patch of zeros at either end. */
typedef struct band {
    formats_block block;
    int32_t *z;                        /* z of the current row */
    int16_t *pixels[KEPT];             /* the input of the first layer */
    int16_t *h[MOST_LAYERS];           /* a row is replaced after all layers have used it */
    uint8_t *bytes[MOST_LAYERS][KEPT]; /* the input of the others */
    int16_t *nothing;                  /* zeros: a row outside the picture */
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

static void lay_out(band *b, const codec_restoration *r, size_t columns, formats_layout *at) {
    const size_t row = row_size(r, columns);
    for (int i = 0; i < KEPT; i++) b->pixels[i] = formats_lay(at, row, sizeof *b->pixels[i]);
    for (uint32_t l = 0; l < r->layers; l++) {
        b->h[l] = formats_lay(at, row, sizeof *b->h[l]);
        for (int i = 0; i < KEPT; i++) b->bytes[l][i] = formats_lay(at, row, 1);
    }
    b->nothing = formats_lay(at, row, sizeof *b->nothing);
    b->z =
        formats_lay(at, row, sizeof *b->z); /* behind all rows, as kernels read a little further */
}

static size_t edge_size(const codec_restoration *r, size_t columns) {
    return 2 * r->layers * columns * codec_restoration_values(r->channels);
}

uint64_t codec_restoration_bytes(const codec_restoration *r, codec_window w, codec_grid grid,
                                 unsigned threads) {
    const uint64_t columns = (uint64_t)grid.columns * (w.width / PATCH),
                   rows = (uint64_t)grid.rows * (w.height / PATCH),
                   bands = (rows - 1) / rows_of_band((uint32_t)rows, threads) + 1;
    formats_layout at = {0};
    band b;
    lay_out(&b, r, columns, &at);
    const uint64_t at_once = bands < threads ? bands : threads;
    return (bands - 1) * edge_size(r, columns) * sizeof(int16_t) + at_once * at.used;
}

static taper_status open_band(const task *t, band *b) {
    formats_layout at = {0};
    lay_out(b, t->net, t->patches.columns, &at);
    TAPER_TRY(formats_block_take(&b->block, &at, NULL));
    lay_out(b, t->net, t->patches.columns, &at);
    return TAPER_OK;
}

/* Row y, within the picture, of the input of a layer. */
static const void *input_row(const task *t, const band *b, uint32_t layer, int64_t y) {
    if (y < 0 || y >= t->patches.rows) return b->nothing;
    uint64_t place = (uint64_t)y % KEPT;
    return layer ? (const void *)b->bytes[layer][place] : (const void *)b->pixels[place];
}

/* Compute row y, within the picture, of layer l. */
static void make_row(const task *t, const band *b, uint32_t l, int64_t y) {
    const codec_convolution *c = &t->net->layer[l];
    const void *in[3];
    for (int i = 0; i < 3; i++) in[i] = input_row(t, b, l, y + i - 1);
    codec_convolve_row(c, in, t->patches.columns, l ? c->bias : t->bias, b->z);
    if (l + 1 == t->net->layers) {
        add_row(&t->patches, (uint32_t)y, b->z, t->gain);
        return;
    }
    size_t n = (size_t)t->patches.columns * c->outputs;
    int16_t *h = b->h[(uint64_t)y % t->net->layers];
    (l ? activate_next : activate_first)(b->z, n, h,
                                         b->bytes[l + 1][(uint64_t)y % KEPT] + c->outputs);
}

/* The kept a(0) of row y, if an edge between bands is near; else NULL. */
static int16_t *edge_row(const task *t, int64_t y) {
    int64_t layers = t->net->layers, near = (y + layers) / t->band_rows,
            bands = (t->patches.rows - 1) / t->band_rows + 1, edge = near * t->band_rows;
    if (near < 1 || near >= bands || y >= edge + layers) return NULL;
    size_t row = (size_t)t->patches.columns * t->patches.values;
    return t->edge_rows + (size_t)((near - 1) * 2 * layers + y - (edge - layers)) * row;
}

/* Keep the rows at all edges before any band changes the picture. */
static void keep_edges(const task *t) {
    for (uint32_t y = 0; y < t->patches.rows; y++) {
        int16_t *kept = edge_row(t, y);
        if (kept) read_row(&t->patches, y, kept);
    }
}

static void fetch_row(const task *t, const band *b, int64_t y) {
    int16_t *to = b->pixels[(uint64_t)y % KEPT] + t->patches.values;
    const int16_t *kept = edge_row(t, y);
    if (kept)
        memcpy(to, kept, (size_t)t->patches.columns * t->patches.values * sizeof *to);
    else
        read_row(&t->patches, (uint32_t)y, to);
}

static void restore_band(void *context, size_t number) {
    task *t = context;
    band b;
    int64_t layers = t->net->layers, rows = t->patches.rows, first = (int64_t)number * t->band_rows,
            end = first + t->band_rows;
    if (end > rows) end = rows;
    if (open_band(t, &b) != TAPER_OK) {
        t->failed = 1;
        return;
    }
    for (int64_t y = first - layers; y < end + layers; y++) {
        if (y >= 0 && y < rows) fetch_row(t, &b, y);
        for (int64_t l = 0; l < layers; l++) {
            int64_t made = y - 1 - l, reach = layers - 1 - l;
            if (made >= 0 && made < rows && made >= first - reach && made < end + reach)
                make_row(t, &b, (uint32_t)l, made);
        }
    }
    formats_block_free(&b.block);
}

taper_status codec_restoration_apply(const codec_restoration *r, uint32_t pass, codec_pool *pool,
                                     const codec_picture *picture) {
    task t = {.net = r,
              .patches = {.picture = picture,
                          .rows = picture->height / PATCH,
                          .columns = picture->width / PATCH,
                          .values = codec_restoration_values(picture->channels)}};
    state_at(r, pass, t.bias, &t.gain);
    t.band_rows = rows_of_band(t.patches.rows, codec_pool_threads(pool));
    uint32_t bands = (t.patches.rows - 1) / t.band_rows + 1;
    if (bands > 1) {
        t.edge_rows = malloc((bands - 1) * edge_size(r, t.patches.columns) * sizeof *t.edge_rows);
        if (!t.edge_rows) return TAPER_ERR_NOMEM;
        keep_edges(&t);
    }
    codec_pool_run(pool, restore_band, &t, bands);
    free(t.edge_rows);
    return t.failed ? TAPER_ERR_NOMEM : TAPER_OK;
}
