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

typedef train_restoration_squares squares;

/* A square of at most side x side pixels of an image, at a random place. Its pixels are at an
 * offset in memory that all squares share. */
typedef struct place {
    size_t image, offset;
    uint32_t x, y, width, height;
    int mirrored;
} place;

static size_t bytes_of(const taper_image *image, const place *p) {
    return (size_t)image->channels * p->width * p->height;
}

static place draw_place(const train_draw *draw, const uint32_t side[2], uint64_t number) {
    uint32_t random[4];
    train_philox(draw->seed, number, TRAIN_STREAM_CUT_OUT + (draw->step << 8), random);
    place p = {.image =
                   draw->images->image[train_philox_below(random[2], (uint32_t)draw->images->n)],
               .mirrored = random[3] & 1};
    const taper_image *image = &draw->data->image[p.image];
    p.width = image->width < side[0] ? image->width : side[0];
    p.height = image->height < side[1] ? image->height : side[1];
    p.x = train_philox_below(random[0], image->width - p.width + 1);
    p.y = train_philox_below(random[1], image->height - p.height + 1);
    return p;
}

static void cut_out(const taper_image *image, const place *p, uint8_t *to) {
    const size_t pixel = image->channels;
    for (uint32_t j = 0; j < p->height; j++)
        for (uint32_t i = 0; i < p->width; i++, to += pixel) {
            uint32_t from = p->x + (p->mirrored ? p->width - 1 - i : i);
            memcpy(to,
                   (const uint8_t *)image->pixels +
                       ((size_t)(p->y + j) * image->width + from) * pixel,
                   pixel);
        }
}

/* Draws places of at least `wanted` windows in all. *bytes: of their pixels. */
static void draw_places(squares *s, const train_draw *draw, const uint32_t side[2], size_t wanted,
                        place *to, size_t *bytes) {
    for (*bytes = 0; s->windows < wanted; s->images++) {
        place *p = &to[s->images];
        *p = draw_place(draw, side, s->images);
        p->offset = *bytes;
        *bytes += bytes_of(&draw->data->image[p->image], p);
        s->grid[s->images] = codec_windows_grid(s->window, p->width, p->height);
        s->windows += (size_t)s->grid[s->images].columns * s->grid[s->images].rows;
    }
}

/* The pixels of all squares, those of other ranks' images too; malloc'd. */
static taper_status cut_squares(const squares *s, const train_draw *draw, const place *at,
                                size_t bytes, uint8_t **pixels, taper_error *error) {
    const train_dataset *data = draw->data;
    *pixels = calloc(bytes + 1, 1);
    if (!*pixels) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s->images; i++)
        if (train_is_here(data, at[i].image))
            cut_out(&data->image[at[i].image], &at[i], *pixels + at[i].offset);
    return train_sum_bytes(data->ranks, *pixels, bytes, error);
}

static void read_squares(squares *s, const train_dataset *data, const place *at, uint8_t *pixels) {
    codec_window plain = s->window;
    size_t to = 0;
    plain.lap = NULL;
    for (size_t i = 0; i < s->images; i++) {
        taper_image square = data->image[at[i].image];
        square.width = at[i].width, square.height = at[i].height;
        square.pixels = pixels + at[i].offset;
        codec_windows_read(plain, &square, s->target + to);
        codec_windows_read(s->window, &square, s->coded + to);
        to += (size_t)s->grid[i].columns * s->grid[i].rows * codec_window_values(s->window);
    }
}

/* Of squares that were drawn at places: what this rank has of them, and of other ranks' pixels. */
static taper_status take_squares(squares *s, const train_draw *draw, const place *at, size_t bytes,
                                 int is_mine, taper_error *error) {
    const size_t numbers = s->windows * codec_window_values(s->window);
    uint8_t *pixels;
    TAPER_TRY(cut_squares(s, draw, at, bytes, &pixels, error));
    if (is_mine) {
        s->target = malloc(numbers * sizeof *s->target);
        s->coded = malloc(numbers * sizeof *s->coded);
    }
    const taper_status status = is_mine && !(s->target && s->coded) ? TAPER_ERR_NOMEM : TAPER_OK;
    if (status == TAPER_OK && is_mine) read_squares(s, draw->data, at, pixels);
    free(pixels);
    return status;
}

taper_status train_restoration_squares_draw(train_restoration_squares *s, codec_window window,
                                            const train_draw *draw, size_t pixels, int is_mine,
                                            taper_error *error) {
    size_t wanted = pixels / ((size_t)window.width * window.height), bytes;
    if (!wanted) wanted = 1;
    uint32_t across = (uint32_t)sqrt((double)wanted); /* windows along a side */
    if (!across) across = 1;
    const uint32_t side[2] = {across * window.width, across * window.height};
    *s = (squares){.window = window};
    s->grid = malloc(wanted * sizeof *s->grid); /* a square has a window or more */
    place *at = malloc(wanted * sizeof *at);
    taper_status status = s->grid && at ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        draw_places(s, draw, side, wanted, at, &bytes);
        status = take_squares(s, draw, at, bytes, is_mine, error);
    }
    free(at);
    if (status != TAPER_OK || !is_mine) train_restoration_squares_free(s);
    if (status == TAPER_OK || status == TAPER_ERR_IO) return status;
    return formats_fail(error, status, "no memory for squares of %zu pixels", pixels);
}

void train_restoration_squares_free(train_restoration_squares *s) {
    free(s->grid), free(s->target), free(s->coded);
    *s = (squares){0};
}

/* --- decoded squares -------------------------------------------------------------------- */

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

/* to[windows][values]: the group's windows, rendered. */
static taper_status render(const squares *s, const taper_model *m, codec_backend *be,
                           const train_conditional_batch *b, float *to) {
    size_t values = codec_window_values(m->window), at = 0;
    codec_window_renderer renderer;
    TAPER_TRY(
        codec_window_renderer_begin(&renderer, m, &b->coder.group, 0, b->coder.group.n, 1, NULL));
    int16_t *value = malloc(b->coder.group.n * values * sizeof *value);
    taper_status status = TAPER_ERR_NOMEM;
    if (value) status = codec_window_renderer_run(&renderer, be, 0, b->coder.group.n, value);
    for (size_t i = 0; i < s->images && status == TAPER_OK; i++) {
        status = decode_image(m->window, s->grid[i], value + at, to + at);
        at += (size_t)s->grid[i].columns * s->grid[i].rows * values;
    }
    free(value);
    codec_window_renderer_end(&renderer);
    return status;
}

/* to[windows][values]: the squares as decoded from the first `pass` passes. */
static taper_status decode(const squares *s, const taper_model *m, codec_backend *be, uint32_t pass,
                           float *to, taper_error *error) {
    train_conditional_batch b = {.grid = malloc(s->images * sizeof *b.grid), .images = s->images};
    if (!b.grid) return TAPER_ERR_NOMEM;
    memcpy(b.grid, s->grid, s->images * sizeof *b.grid);
    TAPER_TRY(train_conditional_batch_fill(&b, m, be, s->coded, error));
    train_conditional_know(&b, pass);
    const taper_status status = render(s, m, be, &b, to);
    train_conditional_batch_free(&b);
    return status;
}

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

static taper_status alloc(train_restoration_batch *b, const squares *s) {
    size_t numbers = s->windows * codec_window_values(s->window);
    *b = (train_restoration_batch){.values = codec_restoration_values(s->window.channels)};
    b->rows = numbers / b->values;
    b->decoded = malloc(numbers * sizeof *b->decoded);
    b->target = malloc(numbers * sizeof *b->target);
    b->neighbour = malloc(TAPS * b->rows * sizeof *b->neighbour);
    return b->decoded && b->target && b->neighbour ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* decoded[windows][values] */
static void fill(train_restoration_batch *b, const squares *s, const float *decoded) {
    codec_window w = s->window;
    size_t window = 0, first = 0;
    for (size_t i = 0; i < s->images; i++) {
        codec_grid g = s->grid[i];
        uint32_t rows = g.rows * w.height / PATCH, columns = g.columns * w.width / PATCH;
        size_t at = window * codec_window_values(w);
        to_patches(w, g, decoded + at, b->decoded + first * b->values);
        to_patches(w, g, s->target + at, b->target + first * b->values);
        find_neighbours(b, first, rows, columns);
        first += (size_t)rows * columns;
        window += (size_t)g.columns * g.rows;
    }
}

taper_status train_restoration_batch_make(train_restoration_batch *b,
                                          const train_restoration_squares *s, const taper_model *m,
                                          codec_backend *be, uint32_t pass, taper_error *error) {
    float *decoded = malloc(s->windows * codec_window_values(s->window) * sizeof *decoded);
    taper_status status = alloc(b, s);
    if (!decoded) status = TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = decode(s, m, be, pass, decoded, error);
    if (status == TAPER_OK) fill(b, s, decoded);
    free(decoded);
    if (status == TAPER_OK) return status;
    train_restoration_batch_free(b);
    return formats_fail(error, status, "no memory for a batch of %zu windows", s->windows);
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
