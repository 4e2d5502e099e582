/* restoration_batch.c -- see restoration_batch.h. */
#include "train/restoration/restoration_batch.h"
#include "codec/render/window_renderer.h"
#include "codec/transform/picture.h"
#include "train/conditional/conditional_batch.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATCH = CODEC_RESTORATION_PATCH, TAPS = CODEC_RESTORATION_TAPS };

/* --- squares of images ------------------------------------------------------------------ */

typedef struct squares {
    codec_window window;
    codec_grid *grid;                 /* [capacity] */
    float *target;                    /* [windows][values] of the originals */
    float *coded;                     /* [windows][values] after the lap: the codec's input */
    size_t images, windows, capacity; /* capacity: windows that fit into both */
} squares;

/* Cuts a square of at most side x side pixels from an image at a random place; malloc'd pixels. */
static int cut_out(const taper_image *image, uint32_t side[2], const uint32_t random[4],
                   taper_image *out) {
    size_t pixel = (size_t)image->channels * (image->depth / 8u);
    *out = *image;
    out->width = image->width < side[0] ? image->width : side[0];
    out->height = image->height < side[1] ? image->height : side[1];
    uint32_t x = train_philox_below(random[0], image->width - out->width + 1),
             y = train_philox_below(random[1], image->height - out->height + 1);
    uint8_t *to = out->pixels = malloc(pixel * out->width * out->height);
    for (uint32_t j = 0; to && j < out->height; j++)
        for (uint32_t i = 0; i < out->width; i++, to += pixel) {
            uint32_t from = x + (random[3] & 1 ? out->width - 1 - i : i);
            memcpy(to,
                   (const uint8_t *)image->pixels + ((size_t)(y + j) * image->width + from) * pixel,
                   pixel);
        }
    return out->pixels != NULL;
}

static void add_windows(squares *s, const taper_image *image, codec_grid grid) {
    size_t at = s->windows * codec_window_values(s->window);
    codec_window plain = s->window;
    plain.lap = NULL;
    codec_windows_read(plain, image, s->target + at);
    codec_windows_read(s->window, image, s->coded + at);
    s->grid[s->images++] = grid;
    s->windows += (size_t)grid.columns * grid.rows;
}

static taper_status draw_squares(squares *s, const train_draw *draw, size_t wanted) {
    uint32_t across = (uint32_t)sqrt((double)wanted); /* windows along a side */
    if (!across) across = 1;
    uint32_t side[2] = {across * s->window.width, across * s->window.height};
    size_t values = codec_window_values(s->window);
    s->capacity = wanted + (size_t)across * across;
    s->grid = malloc(s->capacity * sizeof *s->grid);
    s->target = malloc(s->capacity * values * sizeof *s->target);
    s->coded = malloc(s->capacity * values * sizeof *s->coded);
    if (!s->grid || !s->target || !s->coded) return TAPER_ERR_NOMEM;
    while (s->windows < wanted) {
        uint32_t random[4];
        taper_image square;
        train_philox(draw->seed, s->images, TRAIN_STREAM_CUT_OUT + (draw->step << 8), random);
        size_t i = draw->images->image[train_philox_below(random[2], (uint32_t)draw->images->n)];
        if (!cut_out(&draw->data->image[i], side, random, &square)) return TAPER_ERR_NOMEM;
        add_windows(s, &square, codec_windows_grid(s->window, square.width, square.height));
        free(square.pixels);
    }
    return TAPER_OK;
}

/* Windows of one image after the lap, on the 8-bit scale, in place. */
static taper_status decode_image(codec_window w, codec_grid grid, const int16_t *value, float *to) {
    codec_picture p;
    TAPER_TRY(codec_picture_of_windows(&p, w, grid, value));
    if (w.lap) codec_lap_postfilter(w, &p);
    for (uint32_t i = 0; i < grid.columns * grid.rows; i++)
        for (uint32_t c = 0; c < w.channels; c++)
            for (uint32_t y = 0; y < w.height; y++)
                for (uint32_t x = 0; x < w.width; x++)
                    *to++ =
                        128.0f + (float)codec_picture_row(&p, c,
                                                          i / grid.columns * w.height +
                                                              y)[i % grid.columns * w.width + x] /
                                     CODEC_PICTURE_ONE;
    codec_picture_free(&p);
    return TAPER_OK;
}

/* Renders the group's windows, and replaces `coded` by the result. */
static taper_status render(squares *s, const taper_model *m, codec_backend *be,
                           const train_conditional_batch *b) {
    size_t values = codec_window_values(m->window), at = 0;
    codec_window_renderer renderer;
    TAPER_TRY(
        codec_window_renderer_begin(&renderer, m, &b->coder.group, 0, b->coder.group.n, 1, NULL));
    int16_t *value = malloc(b->coder.group.n * values * sizeof *value);
    taper_status status = TAPER_ERR_NOMEM;
    if (value) status = codec_window_renderer_run(&renderer, be, 0, b->coder.group.n, value);
    for (size_t i = 0; i < b->images && status == TAPER_OK; i++) {
        status = decode_image(m->window, b->grid[i], value + at, s->coded + at);
        at += (size_t)b->grid[i].columns * b->grid[i].rows * values;
    }
    free(value);
    codec_window_renderer_end(&renderer);
    return status;
}

/* Replaces `coded` by its decoded values. */
static taper_status decode(squares *s, const taper_model *m, codec_backend *be, uint32_t pass,
                           taper_error *error) {
    train_conditional_batch b = {.grid = s->grid, .images = s->images};
    s->grid = NULL; /* now owned by the batch */
    TAPER_TRY(train_conditional_batch_fill(&b, m, be, s->coded, error));
    train_conditional_know(&b, pass);
    taper_status status = render(s, m, be, &b);
    s->grid = b.grid, b.grid = NULL;
    train_conditional_batch_free(&b);
    return status;
}

static void free_squares(squares *s) { free(s->grid), free(s->target), free(s->coded); }

/* --- windows to patches ----------------------------------------------------------------- */

/* Reorders a picture's windows to patches [channel][y][x], row by row. */
static void to_patches(codec_window w, codec_grid grid, const float *windows, float *to) {
    uint32_t width = grid.columns * w.width, height = grid.rows * w.height;
    for (uint32_t y = 0; y < height; y += PATCH)
        for (uint32_t x = 0; x < width; x += PATCH)
            for (uint32_t c = 0; c < w.channels; c++)
                for (uint32_t i = 0; i < PATCH * PATCH; i++) {
                    uint32_t px = x + i % PATCH, py = y + i / PATCH;
                    *to++ =
                        windows[((size_t)(py / w.height) * grid.columns + px / w.width) *
                                    codec_window_values(w) +
                                ((size_t)c * w.height + py % w.height) * w.width + px % w.width];
                }
}

/* Neighbours in a picture of rows x columns patches, the first of which is `first`. */
static void find_neighbours(train_restoration_batch *b, size_t first, uint32_t rows,
                            uint32_t columns) {
    for (uint32_t tap = 0; tap < TAPS; tap++)
        for (uint32_t y = 0; y < rows; y++)
            for (uint32_t x = 0; x < columns; x++) {
                uint32_t to_x = x + tap % 3 - 1, to_y = y + tap / 3 - 1; /* -1 wraps around */
                size_t at = first + (size_t)to_y * columns + to_x;
                b->neighbour[tap * b->rows + first + (size_t)y * columns + x] =
                    (uint32_t)(to_x < columns && to_y < rows ? at : b->rows);
            }
}

static taper_status fill(train_restoration_batch *b, const squares *s) {
    codec_window w = s->window;
    size_t numbers = s->windows * codec_window_values(w), window = 0, first = 0;
    *b = (train_restoration_batch){.values = codec_restoration_values(w.channels)};
    b->rows = numbers / b->values;
    b->decoded = malloc(numbers * sizeof *b->decoded);
    b->target = malloc(numbers * sizeof *b->target);
    b->neighbour = malloc(TAPS * b->rows * sizeof *b->neighbour);
    if (!b->decoded || !b->target || !b->neighbour) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s->images; i++) {
        codec_grid g = s->grid[i];
        uint32_t rows = g.rows * w.height / PATCH, columns = g.columns * w.width / PATCH;
        size_t at = window * codec_window_values(w);
        to_patches(w, g, s->coded + at, b->decoded + first * b->values);
        to_patches(w, g, s->target + at, b->target + first * b->values);
        find_neighbours(b, first, rows, columns);
        first += (size_t)rows * columns;
        window += (size_t)g.columns * g.rows;
    }
    return TAPER_OK;
}

taper_status train_restoration_batch_make(train_restoration_batch *b, const taper_model *m,
                                          codec_backend *be, const train_draw *draw, size_t pixels,
                                          uint32_t pass, taper_error *error) {
    squares s = {.window = m->window};
    size_t wanted = pixels / ((size_t)m->window.width * m->window.height);
    *b = (train_restoration_batch){0};
    taper_status status = draw_squares(&s, draw, wanted ? wanted : 1);
    if (status == TAPER_OK) status = decode(&s, m, be, pass, error);
    if (status == TAPER_OK) status = fill(b, &s);
    free_squares(&s);
    if (status == TAPER_OK) return status;
    train_restoration_batch_free(b);
    return formats_fail(error, status, "no memory for a batch of %zu pixels", pixels);
}

double train_restoration_mse(const train_restoration_batch *b) {
    size_t n = b->rows * b->values;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double error = (double)(b->decoded[i] - b->target[i]);
        sum += error * error;
    }
    return sum / (double)n;
}

void train_restoration_batch_free(train_restoration_batch *b) {
    free(b->decoded), free(b->target), free(b->neighbour);
    *b = (train_restoration_batch){0};
}
