/* gradients.c -- see gradients.h. */
#include "codec/transform/gradients.h"
#include "codec/transform/gradient_votes.h"
#include "codec/transform/windows.h"
#include <stdlib.h>
#include <string.h>

enum {
    SIGNED = CODEC_GRADIENT_SIGNED,
    MOST_CHANNELS = 3,
    PLACES = SIGNED + MOST_CHANNELS /* sums of a cell: votes, then samples */
};

/* Sums have a cell more at each edge, for what pixels there give to cells outside. */
typedef struct layout {
    codec_window window;
    codec_cells cells;
    codec_gradient_place *column, *row; /* [width], [height] */
    uint64_t *of_column, *of_row;       /* [across + 2], [down + 2] sums of weights */
    uint32_t *line;                     /* [across + 2][PLACES] sums of a row of pixels */
    uint64_t *sum;                      /* [down + 2][across + 2][PLACES] */
    uint32_t *votes;                    /* [down][across][SIGNED] means */
    uint64_t *energy;                   /* [down][across] */
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

static void place_pixels(uint32_t n, uint32_t cells, codec_gradient_place *to, uint64_t *weights) {
    for (uint32_t i = 0; i < n; i++) {
        to[i] = codec_gradient_place_of(i, n, cells);
        weights[to[i].cell] += to[i].weight[0];
        weights[to[i].cell + 1] += to[i].weight[1];
    }
}

/* Take all arrays from one block of memory, which is returned, or NULL. */
static void *open_layout(layout *l, codec_window w, codec_cells c) {
    const size_t across = c.across + 2, down = c.down + 2, cells = (size_t)c.across * c.down;
    const size_t wide = across * down * PLACES + across + down + cells;
    const size_t narrow = across * PLACES + cells * SIGNED;
    const size_t places = (size_t)w.width + w.height;
    uint64_t *memory =
        calloc(1, wide * sizeof *memory + narrow * sizeof *l->line + places * sizeof *l->column);
    if (!memory) return NULL;
    *l = (layout){.window = w, .cells = c, .sum = memory};
    l->of_column = l->sum + across * down * PLACES;
    l->of_row = l->of_column + across;
    l->energy = l->of_row + down;
    l->line = (uint32_t *)(l->energy + cells);
    l->votes = l->line + across * PLACES;
    l->column = (codec_gradient_place *)(l->votes + cells * SIGNED);
    l->row = l->column + w.width;
    place_pixels(w.width, c.across, l->column, l->of_column);
    place_pixels(w.height, c.down, l->row, l->of_row);
    return memory;
}

/* --- sums of cells ----------------------------------------------------------------------- */

static void add_pixels(layout *l, const uint8_t *pixels, uint32_t y) {
    const size_t plane = (size_t)l->window.width * l->window.height;
    const uint8_t *samples = pixels + (size_t)y * l->window.width;
    memset(l->line, 0, (l->cells.across + 2) * PLACES * sizeof *l->line);
    for (uint32_t x = 0; x < l->window.width; x++) {
        const codec_gradient_place *at = &l->column[x];
        uint32_t vote[2];
        const codec_gradient g = codec_gradient_at(l->window, pixels, x, y);
        const uint32_t first = codec_gradient_vote(g, vote);
        const uint32_t second = first + 1 < SIGNED ? first + 1 : 0;
        uint32_t *to = l->line + (size_t)at->cell * PLACES;
        for (int side = 0; side < 2; side++, to += PLACES) {
            to[first] += at->weight[side] * vote[0];
            to[second] += at->weight[side] * vote[1];
            for (uint32_t c = 0; c < l->window.channels; c++)
                to[SIGNED + c] += at->weight[side] * samples[c * plane + x];
        }
    }
}

static void add_rows(layout *l, const uint8_t *pixels) {
    const size_t width = (l->cells.across + 2) * (size_t)PLACES;
    memset(l->sum, 0, (l->cells.down + 2) * width * sizeof *l->sum);
    for (uint32_t y = 0; y < l->window.height; y++) {
        const codec_gradient_place *at = &l->row[y];
        uint64_t *above = l->sum + (size_t)at->cell * width, *below = above + width;
        add_pixels(l, pixels, y);
        for (size_t i = 0; i < width; i++) {
            above[i] += (uint64_t)at->weight[0] * l->line[i];
            below[i] += (uint64_t)at->weight[1] * l->line[i];
        }
    }
}

/* --- values of cells ---------------------------------------------------------------------- */

static const uint64_t *sums_of(const layout *l, uint32_t x, uint32_t y) {
    return l->sum + ((y + 1) * (size_t)(l->cells.across + 2) + x + 1) * PLACES;
}

static void average(layout *l) {
    uint32_t *to = l->votes;
    uint64_t *energy = l->energy;
    for (uint32_t y = 0; y < l->cells.down; y++)
        for (uint32_t x = 0; x < l->cells.across; x++, to += SIGNED) {
            const uint64_t *sum = sums_of(l, x, y);
            for (int k = 0; k < SIGNED; k++)
                to[k] = codec_gradient_mean_votes(l->window, l->cells, sum[k]);
            *energy++ = codec_gradient_energy(to);
        }
}

/* The gains of the four blocks of 2 x 2 cells that have cell (x, y); at an edge the cells inside
 * count twice. */
static void take_gains(const layout *l, uint32_t x, uint32_t y, uint64_t gain[4]) {
    const uint32_t across = l->cells.across;
    for (int b = 0; b < 4; b++) {
        const uint32_t x2 = codec_gradient_beside(x, across, b % 2);
        const uint32_t y2 = codec_gradient_beside(y, l->cells.down, b / 2);
        gain[b] = codec_gradient_gain(l->energy[y * across + x] + l->energy[y * across + x2] +
                                      l->energy[y2 * across + x] + l->energy[y2 * across + x2]);
    }
}

static void describe_cell(const layout *l, uint32_t x, uint32_t y, uint8_t *to) {
    const size_t plane = (size_t)l->cells.across * l->cells.down;
    const size_t cell = (size_t)y * l->cells.across + x;
    const uint64_t weight = l->of_column[x + 1] * l->of_row[y + 1];
    uint64_t gain[4];
    take_gains(l, x, y, gain);
    codec_gradient_values(l->votes + cell * SIGNED, gain, plane, to + cell);
    to += CODEC_GRADIENT_PLANES * plane + cell;
    for (uint32_t c = 0; c < l->window.channels; c++, to += plane)
        *to = (uint8_t)((sums_of(l, x, y)[SIGNED + c] + weight / 2) / weight);
}

taper_status codec_gradients(codec_window w, codec_cells c, size_t n, const uint8_t *pixels,
                             uint8_t *values) {
    layout l;
    void *memory = open_layout(&l, w, c);
    if (!memory) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        add_rows(&l, pixels);
        average(&l);
        for (uint32_t y = 0; y < c.down; y++)
            for (uint32_t x = 0; x < c.across; x++) describe_cell(&l, x, y, values);
        pixels += codec_window_values(w), values += codec_gradients_count(w, c);
    }
    free(memory);
    return TAPER_OK;
}

taper_status codec_gradients_of_image(codec_window w, codec_cells c, const taper_image *image,
                                      uint8_t *values) {
    const size_t n = codec_window_values(w);
    float *pixels = malloc(n * (sizeof *pixels + 1));
    if (!pixels) return TAPER_ERR_NOMEM;
    uint8_t *samples = (uint8_t *)(pixels + n);
    codec_windows_read(w, image, pixels);
    for (size_t i = 0; i < n; i++) samples[i] = (uint8_t)pixels[i]; /* they are whole numbers */
    const taper_status status = codec_gradients(w, c, 1, samples, values);
    free(pixels);
    return status;
}
