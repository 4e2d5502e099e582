/* gradients.c -- see gradients.h. */
#include "codec/transform/gradients.h"
#include <stdlib.h>
#include <string.h>

enum {
    SIGNED = CODEC_GRADIENT_SIGNED,
    HALF = SIGNED / 2,
    MOST_CHANNELS = 3,
    PLACES = SIGNED + MOST_CHANNELS, /* sums of a cell: votes, then samples */
    PART = 64,                       /* weights of pixels are in 1/64 */
    LEAST_ENERGY = 2048, /* votes of a gradient of one level, squared: less contrast is noise */
    CLIP = 255,          /* a fifth of the contrast around the cell */
    GAIN = 1275,         /* 5 CLIP */
    GAIN_BITS = 20,
    SUM_PARTS = 20 /* of a sum of 18 values, such that it is a byte */
};

/* 128 (cos, sin) of 0, 20, .. 180 degrees. */
static const int16_t direction[HALF + 1][2] = {{128, 0},   {120, 44}, {98, 82},   {64, 111},
                                               {22, 126},  {-22, 126}, {-64, 111}, {-98, 82},
                                               {-120, 44}, {-128, 0}};

/* The two cells to which a column or a row of pixels belongs: `cell` - 1 and `cell`, where cells are
 * counted from 1 and those outside of the window are not used. */
typedef struct place {
    uint32_t cell;
    uint32_t weight[2]; /* their sum is PART */
} place;

typedef struct layout {
    codec_window window;
    codec_cells cells;
    place *column, *row;         /* [width], [height] */
    uint64_t *of_column, *of_row; /* [across + 2], [down + 2] sums of weights */
    uint32_t *line;              /* [across + 2][PLACES] sums of a row of pixels */
    uint64_t *sum;               /* [down + 2][across + 2][PLACES] */
    uint32_t *histogram;         /* [down][across][SIGNED] mean votes */
    uint64_t *energy;            /* [down][across] */
} layout;

int codec_cells_are_legal(codec_window w, codec_cells c) {
    return c.across >= 1 && c.down >= 1 && c.across <= CODEC_GRADIENT_MOST_CELLS &&
           c.down <= CODEC_GRADIENT_MOST_CELLS && 2 * c.across <= w.width &&
           2 * c.down <= w.height && codec_gradients_count(w, c) <= CODEC_MAX_INPUTS;
}

uint32_t codec_gradients_count(codec_window w, codec_cells c) {
    return c.across * c.down * (CODEC_GRADIENT_PLANES + w.channels);
}

/* --- the layout of cells ----------------------------------------------------------------- */

/* Pixel i of n has its centre at (2 i + 1) cells / (2 n) cells; the centre of a cell is at 1/2. */
static void place_pixels(uint32_t n, uint32_t cells, place *to, uint64_t *weights) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = (2 * i + 1) * cells + n, rest = at % (2 * n);
        const uint32_t second = (PART * rest + n) / (2 * n);
        to[i] = (place){at / (2 * n), {PART - second, second}};
        weights[to[i].cell] += to[i].weight[0];
        weights[to[i].cell + 1] += to[i].weight[1];
    }
}

static void lay_out(layout *l) {
    place_pixels(l->window.width, l->cells.across, l->column, l->of_column);
    place_pixels(l->window.height, l->cells.down, l->row, l->of_row);
}

/* Take all arrays from one block of memory, zeroed. */
static void *open_layout(layout *l, codec_window w, codec_cells c) {
    const size_t across = c.across + 2, down = c.down + 2, cells = (size_t)c.across * c.down;
    const size_t wide = across * down * PLACES + across + down + cells;
    const size_t narrow = across * PLACES + cells * SIGNED;
    const size_t places = w.width + w.height;
    uint64_t *memory =
        calloc(1, wide * sizeof *memory + narrow * sizeof *l->line + places * sizeof *l->column);
    if (!memory) return NULL;
    *l = (layout){.window = w, .cells = c, .sum = memory};
    l->of_column = l->sum + across * down * PLACES;
    l->of_row = l->of_column + across;
    l->energy = l->of_row + down;
    l->line = (uint32_t *)(l->energy + cells);
    l->histogram = l->line + across * PLACES;
    l->column = (place *)(l->histogram + cells * SIGNED);
    l->row = l->column + w.width;
    lay_out(l);
    return memory;
}

/* --- votes of pixels --------------------------------------------------------------------- */

typedef struct gradient {
    int x, y;
} gradient;

/* The gradient at a pixel: of the channel where it is largest, the first of these. */
static gradient gradient_at(const layout *l, const uint8_t *pixels, uint32_t x, uint32_t y) {
    const uint32_t width = l->window.width, height = l->window.height;
    const size_t left = x ? x - 1 : 0, right = x + 1 < width ? x + 1 : x;
    const size_t up = y ? y - 1 : 0, below = y + 1 < height ? y + 1 : y;
    gradient most = {0, 0};
    int largest = -1;
    for (uint32_t c = 0; c < l->window.channels; c++, pixels += (size_t)width * height) {
        const gradient g = {pixels[y * (size_t)width + right] - pixels[y * (size_t)width + left],
                            pixels[below * width + x] - pixels[up * width + x]};
        if (g.x * g.x + g.y * g.y > largest) most = g, largest = g.x * g.x + g.y * g.y;
    }
    return most;
}

/* Twice the area of the triangle of two vectors; above 0 if b is anticlockwise of a. */
static int area(int ax, int ay, int bx, int by) { return ax * by - ay * bx; }

/* Decompose a gradient into the two directions beside it: vote[2] for `first` and the next one. */
static uint32_t vote_for(gradient g, uint32_t vote[2]) {
    const int is_lower = g.y < 0 || (g.y == 0 && g.x < 0);
    const gradient up = is_lower ? (gradient){-g.x, -g.y} : g;
    uint32_t k = 0;
    for (int j = 1; j < HALF; j++)
        k += area(direction[j][0], direction[j][1], up.x, up.y) >= 0;
    vote[0] = (uint32_t)area(up.x, up.y, direction[k + 1][0], direction[k + 1][1]);
    vote[1] = (uint32_t)area(direction[k][0], direction[k][1], up.x, up.y);
    return is_lower ? k + HALF : k;
}

/* The sums of a row of pixels. */
static void add_pixels(layout *l, const uint8_t *pixels, uint32_t y) {
    const size_t plane = (size_t)l->window.width * l->window.height;
    memset(l->line, 0, (l->cells.across + 2) * PLACES * sizeof *l->line);
    for (uint32_t x = 0; x < l->window.width; x++) {
        const place *at = &l->column[x];
        uint32_t vote[2];
        const uint32_t first = vote_for(gradient_at(l, pixels, x, y), vote);
        const uint32_t second = first + 1 < SIGNED ? first + 1 : 0;
        for (int side = 0; side < 2; side++) {
            uint32_t *to = l->line + (at->cell + (uint32_t)side) * PLACES;
            to[first] += at->weight[side] * vote[0];
            to[second] += at->weight[side] * vote[1];
            for (uint32_t c = 0; c < l->window.channels; c++)
                to[SIGNED + c] += at->weight[side] * pixels[c * plane + y * l->window.width + x];
        }
    }
}

static void add_rows(layout *l, const uint8_t *pixels) {
    const size_t width = (l->cells.across + 2) * (size_t)PLACES;
    memset(l->sum, 0, (l->cells.down + 2) * width * sizeof *l->sum);
    for (uint32_t y = 0; y < l->window.height; y++) {
        const place *at = &l->row[y];
        uint64_t *above = l->sum + at->cell * width, *below = above + width;
        add_pixels(l, pixels, y);
        for (size_t i = 0; i < width; i++) {
            above[i] += (uint64_t)at->weight[0] * l->line[i];
            below[i] += (uint64_t)at->weight[1] * l->line[i];
        }
    }
}

/* --- cells -------------------------------------------------------------------------------- */

static const uint64_t *sums_of(const layout *l, uint32_t x, uint32_t y) {
    return l->sum + ((y + 1) * (size_t)(l->cells.across + 2) + x + 1) * PLACES;
}

/* Histograms of mean votes, and the energy of each without signs. */
static void average(layout *l) {
    const uint64_t cells = (uint64_t)l->cells.across * l->cells.down;
    const uint64_t parts = (uint64_t)PART * PART * l->window.width * l->window.height;
    for (uint32_t i = 0; i < cells; i++) {
        const uint64_t *sum = sums_of(l, i % l->cells.across, i / l->cells.across);
        uint32_t *to = l->histogram + (size_t)i * SIGNED;
        for (int k = 0; k < SIGNED; k++) to[k] = (uint32_t)((sum[k] * cells + parts / 2) / parts);
        l->energy[i] = 0;
        for (int k = 0; k < HALF; k++) {
            const uint64_t both = (uint64_t)to[k] + to[k + HALF];
            l->energy[i] += both * both;
        }
    }
}

/* floor(sqrt(n)) */
static uint64_t root(uint64_t n) {
    uint64_t r = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((r + bit) * (r + bit) <= n) r += bit;
    return r;
}

/* What to multiply votes with in the four blocks of 2 x 2 cells that have cell (x, y); at an edge
 * the cells inside count twice. */
static void take_gains(const layout *l, uint32_t x, uint32_t y, uint64_t gain[4]) {
    const uint32_t across = l->cells.across, down = l->cells.down;
    for (int b = 0; b < 4; b++) {
        const uint32_t x2 = b % 2 ? (x + 1 < across ? x + 1 : x) : (x ? x - 1 : x);
        const uint32_t y2 = b / 2 ? (y + 1 < down ? y + 1 : y) : (y ? y - 1 : y);
        const uint64_t energy = l->energy[y * across + x] + l->energy[y * across + x2] +
                                l->energy[y2 * across + x] + l->energy[y2 * across + x2];
        gain[b] = ((uint64_t)GAIN << GAIN_BITS) / root(energy + LEAST_ENERGY);
    }
}

static uint32_t clip(uint64_t votes, uint64_t gain) {
    const uint64_t value = votes * gain >> GAIN_BITS;
    return value < CLIP ? (uint32_t)value : CLIP;
}

/* The mean of the values by the four blocks. */
static uint8_t mean_of(uint64_t votes, const uint64_t gain[4]) {
    return (uint8_t)((clip(votes, gain[0]) + clip(votes, gain[1]) + clip(votes, gain[2]) +
                      clip(votes, gain[3]) + 2) /
                     4);
}

/* Write the values of cell (x, y), `plane` bytes apart. */
static void describe_cell(const layout *l, uint32_t x, uint32_t y, size_t plane, uint8_t *to) {
    const size_t cell = (size_t)y * l->cells.across + x;
    const uint32_t *votes = l->histogram + cell * SIGNED;
    uint64_t gain[4];
    take_gains(l, x, y, gain);
    for (int k = 0; k < SIGNED; k++, to += plane) *to = mean_of(votes[k], gain);
    for (int k = 0; k < HALF; k++, to += plane)
        *to = mean_of((uint64_t)votes[k] + votes[k + HALF], gain);
    for (int b = 0; b < 4; b++, to += plane) {
        uint32_t sum = 0;
        for (int k = 0; k < SIGNED; k++) sum += clip(votes[k], gain[b]);
        *to = (uint8_t)(sum / SUM_PARTS);
    }
    const uint64_t weight = l->of_column[x + 1] * l->of_row[y + 1];
    for (uint32_t c = 0; c < l->window.channels; c++, to += plane)
        *to = (uint8_t)((sums_of(l, x, y)[SIGNED + c] + weight / 2) / weight);
}

taper_status codec_gradients(codec_window w, codec_cells c, size_t n, const uint8_t *pixels,
                             uint8_t *values) {
    const size_t plane = (size_t)c.across * c.down, count = codec_gradients_count(w, c);
    layout l;
    void *memory = open_layout(&l, w, c);
    if (!memory) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++, pixels += codec_window_values(w), values += count) {
        add_rows(&l, pixels);
        average(&l);
        for (size_t cell = 0; cell < plane; cell++)
            describe_cell(&l, (uint32_t)(cell % c.across), (uint32_t)(cell / c.across), plane,
                          values + cell);
    }
    free(memory);
    return TAPER_OK;
}
